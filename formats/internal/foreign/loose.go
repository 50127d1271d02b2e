package foreign

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// layerParts are the names of the tensors of a layer, in PyTorch and in files converted to
// it: conv1.weight, bn1.running_mean.
var layerParts = map[string]bool{"weight": true, "bias": true, "in_proj_weight": true, "in_proj_bias": true,
	"weight_g": true, "weight_v": true, "weight_u": true, "weight_orig": true, "gamma": true, "beta": true,
	"kernel": true, "running_mean": true, "running_var": true, "num_batches_tracked": true,
	"moving_mean": true, "moving_variance": true}

// recurrentPart matches the names of the tensors of recurrent layers.
var recurrentPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(weight|bias)_[a-z]+_l[0-9]+(_reverse)?$`)
})

func layerPart(name string) bool {
	last := name[strings.LastIndexAny(name, "./")+1:]
	return layerParts[last] || strings.Contains(last, "_l") && recurrentPart().MatchString(last)
}

// LayerLike reports whether a tensor is named like the tensors of layers: by a part of a
// layer, or by a path of modules.
func LayerLike(name string, d tensor.DType, shape []int) bool {
	if Loose(name, d, shape) != "" {
		return false
	}
	return layerPart(name) || strings.ContainsAny(name, "./") && len(shape) > 0 && Trained(d)
}

// Trained reports whether d is a type of trained tensors.
func Trained(d tensor.DType) bool {
	return d == tensor.F32 || d == tensor.F64 || d == tensor.F16 || d == tensor.BF16
}

// kind is a kind of tensor stored next to the layers, recognised by a component of its
// name.
type kind struct {
	hints   []string // the component contains one of them
	pattern func() *regexp.Regexp
}

var (
	ofLoss = component(`\w*loss(es|_\w+)?|criterion\w*|(cls|class|pos|label)_weights?`,
		"loss", "criterion", "_weight")
	ofRandom = component(`\w*rng\w*|random_states?|\w*generator_state`, "rng", "random_state", "generator_state")
	ofUpdate = component(`optim\w*|(max_)?exp_avgs?(_sqs?)?|momentum_buffer|lr_sched\w*|scheduler\w*`,
		"optim", "exp_avg", "momentum_buffer", "sched")
	ofMetric = component(`(\w+_)?(acc[0-9]*|accuracy|f1(_?score)?|auroc|precision|recall|confmat|metrics?|`+
		`m?iou|top[15]|best_?(acc|loss|score|prec|fitness)\w*)`,
		"acc", "f1", "auroc", "precision", "recall", "confmat", "metric", "iou", "top1", "top5", "best")
	ofCount = component(`(global_?)?(epochs?|steps?|iters?|iterations?)|n_iter|best_prec1`,
		"epoch", "step", "iter", "prec1")
)

func component(pattern string, hints ...string) kind {
	return kind{hints, sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[./])(` + pattern + `)([./]|$)`)
	})}
}

// has reports whether a name in lower case is of the kind. Hints are tried before patterns:
// a pattern is a hundred times slower, and few names need one.
func (k kind) has(name string) bool {
	return slices.ContainsFunc(k.hints, func(h string) bool { return strings.Contains(name, h) }) &&
		k.pattern().MatchString(name)
}

// Loose returns a short reason why a tensor clearly belongs to no layer: "part of a loss".
// It returns "" if it may belong to one. The name alone is not enough if a layer's tensor
// could have the same name.
func Loose(name string, d tensor.DType, shape []int) string {
	lower := strings.ToLower(name)
	switch {
	case ofLoss.has(lower):
		return "part of a loss"
	case ofRandom.has(lower), d == tensor.U8 && len(shape) == 1 && !layerPart(name):
		return "state of random numbers"
	case ofUpdate.has(lower):
		return "state of the training"
	case layerPart(name):
		return ""
	case ofMetric.has(lower):
		return "part of a metric"
	case ofCount.has(lower) && tensor.Count(shape) == 1:
		return "a counter"
	}
	return ""
}

// Loose returns the reason why t clearly belongs to no layer; "" if it may belong to one.
func (t Tensor) Loose() string { return Loose(t.Name, t.DType, t.Shape) }
