package foreign

import (
	"regexp"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// layerPart is how the names of a layer's tensors end, in PyTorch and in what
// is converted to it: conv1.weight, bn1.running_mean, lstm.weight_ih_l0.
var layerPart = regexp.MustCompile(`(^|[./])((in_proj_)?(weight|bias)(_[a-z]+_l[0-9]+(_reverse)?)?|` +
	`weight_[guv]|weight_orig|gamma|beta|kernel|running_(mean|var)|num_batches_tracked|moving_(mean|variance))$`)

// LayerLike reports whether a tensor is called as those of layers are: by the
// part of a layer that it is, or by a path of modules.
func LayerLike(name string, d tensor.DType, shape []int) bool {
	if Loose(name, d, shape) != "" {
		return false
	}
	return layerPart.MatchString(name) || strings.ContainsAny(name, "./") && len(shape) > 0 && Trained(d)
}

// Trained reports whether d is a type of what is trained.
func Trained(d tensor.DType) bool {
	return d == tensor.F32 || d == tensor.F64 || d == tensor.F16 || d == tensor.BF16
}

// What is kept beside the layers, by a component of the name.
var (
	ofLoss   = component(`\w*loss(es|_\w+)?|criterion\w*|(cls|class|pos|label)_weights?`)
	ofRandom = component(`\w*rng\w*|random_states?|\w*generator_state`)
	ofUpdate = component(`optim\w*|exp_avgs?(_sqs?)?|max_exp_avg_sqs?|momentum_buffer|lr_sched\w*|scheduler\w*`)
	ofMetric = component(`(\w+_)?(acc[0-9]*|accuracy|f1(_?score)?|auroc|precision|recall|confmat|metrics?|` +
		`m?iou|top[15]|best_?(acc|loss|score|prec|fitness)\w*)`)
	ofCount = component(`(global_?)?(epochs?|steps?|iters?|iterations?)|n_iter|best_prec1`)
)

func component(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[./])(` + pattern + `)([./]|$)`)
}

// Loose says in a few words why a tensor plainly is no layer's: "part of a
// loss"; "" if it may be one's. Names alone do not make it so where a layer's
// tensor could be called the same.
func Loose(name string, d tensor.DType, shape []int) string {
	n := tensor.Count(shape)
	switch {
	case ofLoss.MatchString(name):
		return "part of a loss"
	case ofRandom.MatchString(name), d == tensor.U8 && len(shape) == 1 && !layerPart.MatchString(name):
		return "state of random numbers"
	case ofUpdate.MatchString(name):
		return "state of the training"
	case layerPart.MatchString(name):
		return ""
	case ofMetric.MatchString(name):
		return "part of a metric"
	case ofCount.MatchString(name) && n == 1:
		return "a counter"
	}
	return ""
}

// Loose says why t plainly is no layer's, "" if it may be one's.
func (t Tensor) Loose() string { return Loose(t.Name, t.DType, t.Shape) }
