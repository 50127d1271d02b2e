package foreign

import (
	"regexp"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// If no architecture names its layers, a name is not enough evidence: criterion.weight may
// be the trained classifier of an angular margin loss, precision may be a trained number,
// and scheduler.alphas an input of the computation of a diffusion model.
var (
	// lossWeights are the buffers of torch.nn.CrossEntropyLoss, NLLLoss and BCEWithLogitsLoss.
	lossWeights = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[./])(criterion\w*|\w*loss(es|_f(n|unc|unction))?)([./][0-9]+)?[./]` +
			`(pos_)?weight$`)
	})
	// figures are sums and means stored by metrics, and the best results of a training run.
	figures = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[./](mean_value|value|total|weight)$|(^|[./])(\w*loss|best_(acc|loss|score|` +
			`prec|fitness)\w*)$`)
	})
)

// LooseAlone does the same as Loose for an unknown architecture. It returns the reason why a tensor
// belongs to no layer of any architecture, and considers type and shape in addition to the name. A
// tensor of integers may have such a reason, because layers do not train integers. A tensor of
// floats has one only if it is a vector with the class weights of a loss, or a single value of a
// metric.
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

// LooseAlone returns the reason why t belongs to no layer of any architecture; "" if it may
// belong to one.
func (t Tensor) LooseAlone() string { return LooseAlone(t.Name, t.DType, t.Shape) }
