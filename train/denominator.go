package train

import (
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// denominator returns the divisor of the mean loss, the sum of the weights of labels, as PyTorch does.
// Without weights this is the number of labels; for losses of single elements it is the number of known
// elements. It does not depend on the order of labels.
func (p *plan) denominator(labels tensor.Tensor) float64 {
	if p.loss.Of != losses.CrossEntropy {
		return p.loss.CountKnown(labels.I32())
	}
	if p.classWeights == nil {
		counted := 0
		for _, l := range labels.I32() {
			if l != -1 {
				counted++
			}
		}
		return float64(counted)
	}
	sum := 0.0
	for class, n := range recipe.CountClasses(labels.I32(), len(p.classWeights)) {
		sum += float64(p.classWeights[class] * float64(n))
	}
	return sum
}

// perLabel returns the result of a step, scaled so that Loss/Counted is the mean loss of the labels that
// count, by their weights. For numbers, all known numbers count.
func (p *plan) perLabel(b parallel.Batch, r parallel.Result) parallel.Result {
	if p.loss.IsMatched() {
		r.Counted = max(r.Counted, 1)
	} else if p.loss.IsBoxes() {
		r.Counted = positives(b.Rows)
	} else if p.loss.IsNumeric() {
		r.Counted = p.denominator(b.Rows[losses.InputLabels])
	} else if (p.classWeights != nil || isMixed(b.Rows)) && r.Counted > 0 {
		r.Loss = ratio(r.Loss, p.weighed(b.Rows)) * r.Counted
	}
	return r
}
