package foreign

import (
	"regexp"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// Where no architecture says what its layers are called a name is too little: criterion.weight
// may be the trained classifier of a loss of angles, precision a trained number, scheduler.alphas
// what a diffusion model computes with.
var (
	// lossWeights are the buffers of torch.nn.CrossEntropyLoss, NLLLoss and BCEWithLogitsLoss.
	lossWeights = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[./])(criterion\w*|\w*loss(es|_f(n|unc|unction))?)([./][0-9]+)?[./]` +
			`(pos_)?weight$`)
	})
	// figures are sums and means that metrics keep, and what a training came to at best.
	figures = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[./](mean_value|value|total|weight)$|(^|[./])(\w*loss|best_(acc|loss|score|` +
			`prec|fitness)\w*)$`)
	})
)

// LooseAlone is Loose where no architecture is known: it says why a tensor is no layer's of any,
// by type and shape as well. Integers are, for a layer trains none; floats are only where they
// are the weights of classes in a loss, in a vector, or a figure, a number without an axis.
func LooseAlone(name string, d tensor.DType, shape []int) string {
	reason, lower := Loose(name, d, shape), strings.ToLower(name)
	switch {
	case reason == "", d == tensor.U8 && len(shape) == 1 && !ofRandom.has(lower):
		return ""
	case !Trained(d), len(shape) == 0 && figures().MatchString(lower), len(shape) == 1 &&
		lossWeights().MatchString(lower):
		return reason
	}
	return ""
}

// LooseAlone says why t is no layer's of any architecture, "" if it may be one's.
func (t Tensor) LooseAlone() string { return LooseAlone(t.Name, t.DType, t.Shape) }
