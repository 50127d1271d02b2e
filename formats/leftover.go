package formats

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// leftover is a kind of tensor that a program adds to a model, recognised by its name.
type leftover struct {
	pattern  func() *regexp.Regexp
	isNumber bool // the tensor is a single number
	text     string
	advice   string
}

func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// removed lists the leftovers that layers do not compute with.
var removed = []leftover{
	{pattern: compiled(`(^|\.)total_(ops|params)$`), isNumber: true, text: "a counter of thop"},
	{pattern: compiled(`(^|\.)_extra_state$`), text: "extra state of a layer, for its own code"},
	{pattern: compiled(observed), text: "a range observed for quantisation"},
}

// observed are the modules that torch.ao.quantization adds to observe ranges or to simulate
// quantisation.
const observed = `(^|\.)(activation_post_process(_[0-9]+)?|(weight|bias|activation)_fake_quant(ize)?|` +
	`\w*_observer)\.`

// changing lists the leftovers that change the model's results in ways that the file does
// not define.
var changing = []leftover{
	{pattern: compiled(`(^|\.)parametrizations\.`), text: "the tensor of a parametrisation, whose function is " +
		"Python code that no file has: it is not what the layer computes with",
		advice: "call torch.nn.utils.parametrize.remove_parametrizations(layer, 'weight') before state_dict()"},
	{pattern: compiled(`(^|\.)(weight|bias|in_proj_weight)_mask$`),
		text: "a mask of pruning without the weight that it belongs to"},
	{pattern: compiled(`(^|\.)weight_(u|g|orig)$`), text: "a part of spectral_norm, weight_norm or pruning, " +
		"whose other parts are missing or have another shape"},
	{pattern: compiled(`(^|\.)(lora_|hada_w|oft_)`),
		text: "an adapter (LoRA) beside the weights, which is not " +
			"added to them", advice: "call model.merge_and_unload() before state_dict()"},
	{pattern: compiled(`(^|\.)(absmax|quant_map|SCB|quant_state\..*|nested_absmax)$`),
		text: "a part of weights that bitsandbytes has quantised", advice: "save the weights from before"},
	{pattern: compiled(`(^|\.)(qweight|qzeros|g_idx)$`),
		text: "a part of weights that are quantised (GPTQ or AWQ)", advice: "save the weights from before"},
	{pattern: compiled(`(^|\.)_\w*(wrap|module|model)\w*\.`), text: "perhaps the name of a wrapper; it is kept"},
}

// leaveRemoved leaves out the tensors listed in removed, one group for each kind, and
// averages of the weights.
func leaveRemoved(f *File) {
	if f.Model != nil || !mereTensors(f.Format) {
		return
	}
	leaveAverages(f)
	for _, k := range removed {
		leave(f, k.text, k.has)
	}
	if simulated(f) {
		f.Find("", "quantisation was prepared, or simulated in training (torch.ao): the weights here are the "+
			"floats from before it", "")
	}
}

// simulated reports whether the file has ranges of torch.ao's quantisation in addition to
// the weights.
func simulated(f *File) bool {
	return slices.ContainsFunc(f.Left, func(g Group) bool { return g.Reason == removed[2].text })
}

// fused reports whether the file has observed ranges, and torch.ao has stored its batch
// norms inside of convolutions.
func fused(f *File) bool {
	return simulated(f) && slices.ContainsFunc(f.Tensors, func(t Tensor) bool {
		return strings.HasSuffix(t.Name, ".bn.running_mean")
	})
}

// has reports whether t is a leftover of this kind.
func (k *leftover) has(t Tensor) bool {
	return (!k.isNumber || tensor.Count(t.Shape) == 1) && k.pattern().MatchString(t.Name)
}

// leave leaves out all tensors of a kind, in one group.
func leave(f *File, reason string, is func(Tensor) bool) {
	var stay, gone []Tensor
	for _, t := range f.Tensors {
		if is(t) {
			gone = append(gone, t)
		} else {
			stay = append(stay, t)
		}
	}
	if len(gone) > 0 && len(stay) > 0 {
		f.Tensors = stay
		f.Left = append(f.Left, grouped(reason, gone[0].Name, len(gone), gone))
	}
}

// grouped describes tensors that are left out together: the first name, and how many more.
func grouped(reason, name string, names int, tensors []Tensor) Group {
	g := Group{Name: name, Reason: reason, Tensors: len(tensors)}
	if names > 1 {
		g.Name += fmt.Sprintf(" and %d more", names-1)
	}
	for _, t := range tensors {
		g.Bytes += int64(t.Size())
	}
	return g
}

// leaveAverages leaves out averages that are stored in addition to the weights. EMAHook of
// mmcv and mmengine names an average with ema_ and the weight's name with underscores.
// LitEma uses model_ema. and the name without dots. ema_pytorch uses ema_model. for
// averages and online_model. for weights.
func leaveAverages(f *File) {
	bare := strings.NewReplacer(".", "", "_", "")
	trained := map[string][]int{}
	for _, t := range f.Tensors {
		if average(t.Name) == "" {
			name := strings.TrimPrefix(strings.TrimPrefix(t.Name, "online_model."), "model.")
			trained[bare.Replace(name)] = t.Shape
		}
	}
	found := false
	leave(f, "average of the weights", func(t Tensor) bool {
		rest := average(t.Name)
		shape, ok := trained[bare.Replace(rest)]
		is := rest != "" && ok && slices.Equal(shape, t.Shape)
		found = found || is
		return is
	})
	if !found {
		return
	}
	leave(f, "a counter of averages", func(t Tensor) bool {
		return tensor.Count(t.Shape) == 1 && slices.Contains(averageCounters, t.Name)
	})
}

// averageCounters are the values that LitEma and ema_pytorch store with the averages.
var averageCounters = []string{"model_ema.decay", "model_ema.num_updates", "initted", "step"}

// average returns the part of a name after the prefix of an average; "" without a prefix.
func average(name string) string {
	for _, mark := range []string{"model_ema.", "ema_model.", "ema_"} {
		if rest, ok := strings.CutPrefix(name, mark); ok {
			return rest
		}
	}
	return ""
}

// nameUndefined reports tensors of a file that change its weights in undefined ways.
func nameUndefined(f *File) {
	for _, k := range changing {
		var names []string
		for _, t := range f.Tensors {
			if k.has(t) {
				names = append(names, t.Name)
			}
		}
		if len(names) > 0 {
			f.Find(names[0], andMore(k.text, len(names)), k.advice)
		}
	}
}

// andMore adds the number of further tensors to a text.
func andMore(text string, n int) string {
	if n == 1 {
		return text
	}
	return text + fmt.Sprintf(" (and %d more such tensors)", n-1)
}

// refusePart rejects a file that holds only a part of a model, recognised by its content: a
// file of DeepSpeed with a world size other than 1, or a file with FSDP's flat parameters.
// Flat parameters have only the elements of one rank, and lack the names and shapes of the
// layers.
func refusePart(f *File) error {
	for _, c := range f.Counters {
		if c.Name == "mp_world_size" && c.Value != "1" {
			return problem.Advise(adviceRanks, "a part of a model that DeepSpeed has spread over ranks: "+
				"mp_world_size is %s", c.Value)
		}
	}
	flat := compiled(`(^|\.)_?flat_param(_[0-9]+)?$`)()
	for _, t := range f.Tensors {
		if flat.MatchString(t.Name) {
			return problem.Advise("save it with StateDictType.FULL_STATE_DICT", "%s: FSDP's flat parameter, without "+
				"the names and shapes of the layers: a part of a sharded checkpoint", t.Name)
		}
	}
	return nil
}
