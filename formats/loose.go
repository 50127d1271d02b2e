package formats

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/models"
)

// auxiliaryHeads are the prefixes of torchvision's auxiliary heads for training: in
// networks for segmentation, in GoogLeNet, and in Inception.
var auxiliaryHeads = []string{"aux_classifier.", "aux1.", "aux2.", "AuxLogits."}

// looseBeside returns the reason why t may be left out. t is a tensor that is not in the state of
// m. It may be left out if it clearly belongs to no layer, or belongs to an auxiliary head and m
// has no layers under its prefix. Otherwise looseBeside returns "".
func looseBeside(t Tensor, m *models.Model) string {
	reason := t.Loose()
	of := func(head string) bool { return strings.HasPrefix(t.Name, head) }
	if reason == "" && slices.ContainsFunc(auxiliaryHeads, of) {
		reason = "the auxiliary head, which has a use in training alone"
	}
	if reason == "" {
		return ""
	}
	prefix := layerPrefix(t.Name)
	for _, s := range m.Graph.State {
		if s.Name == t.Name || prefix != "" && strings.HasPrefix(s.Name, prefix) {
			return ""
		}
	}
	return reason
}

// leaveLoose leaves out all tensors with a reason from looseBeside.
func leaveLoose(f *File, m *models.Model) {
	for _, t := range slices.Clone(f.Tensors) {
		if reason := looseBeside(t, m); reason != "" {
			f.Leave(t.Name, reason)
		}
	}
}

// ExcludeNonWeights moves tensors from f.Tensors to f.Left: tensors that the graph of the file
// computes from others or uses as settings of operators, and tensors that belong to no layer of any
// architecture. The latter are integers, class weights of a loss, and single values of metrics. It
// is for files that have only tensors and an unknown architecture. A tensor is kept if another one
// below the same prefix is kept. All are kept if the result would be empty.
func ExcludeNonWeights(f *File) {
	leaveMarked(f)
	if f.Model != nil || !mereTensors(f.Format) {
		return
	}
	layers := slices.DeleteFunc(slices.Clone(f.Tensors), func(t Tensor) bool { return t.LooseAlone() != "" })
	if len(layers) == 0 {
		return
	}
	for _, t := range slices.Clone(f.Tensors) {
		prefix := layerPrefix(t.Name)
		among := prefix != "" && slices.ContainsFunc(layers, func(l Tensor) bool {
			return strings.HasPrefix(l.Name, prefix)
		})
		if reason := t.LooseAlone(); reason != "" && !among {
			f.Leave(t.Name, reason)
		}
	}
}

// leaveMarked leaves out tensors that are marked as not being weights, unless the file has no
// others.
func leaveMarked(f *File) {
	reasons := map[foreign.Mark]string{foreign.Computed: "computed from other tensors of the file",
		foreign.Setting: "an integer or a setting of an operator, no weight"}
	if !slices.ContainsFunc(f.Tensors, func(t Tensor) bool { return reasons[f.Marks[t.Name]] == "" }) {
		return
	}
	f.Tensors = slices.DeleteFunc(slices.Clone(f.Tensors), func(t Tensor) bool {
		reason := reasons[f.Marks[t.Name]]
		if reason != "" {
			f.Left = append(f.Left, foreign.Group{Name: t.Name, Reason: reason, Tensors: 1, Bytes: int64(t.Size())})
		}
		return reason != ""
	})
}

// mereTensors reports whether files of a format have only tensors, without a graph.
func mereTensors(format string) bool {
	kind, _, _ := strings.Cut(format, " ")
	return kind == "pytorch" || kind == "safetensors" || kind == "tensorflow"
}

// layerPrefix returns the part of a name before the last component.
func layerPrefix(name string) string { return name[:strings.LastIndexAny(name, "./")+1] }

// SuspectTensors returns the names of tensors that were kept although they are named like
// losses, metrics or counters. Without an architecture it is unknown whether they belong to
// a layer.
func SuspectTensors(f *File) []string {
	var names []string
	for _, t := range f.Tensors {
		if t.Loose() != "" {
			names = append(names, t.Name)
		}
	}
	return names
}
