package train

import (
	"math"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// criterion is the figure of an evaluation that says which weights are best, and
// whether patience is lost: "accuracy", "loss" or "miou".
type criterion string

// criterion returns that of Save; where it names none accuracy, or the loss of single elements.
func (r *Recipe) criterion() criterion {
	if name, ok := strings.CutPrefix(r.Save, "best:"); ok {
		return criterion(name)
	}
	if r.Loss != "" {
		return "loss"
	}
	return "accuracy"
}

// figure returns the criterion's figure of e. A loss that is no number is as bad
// as can be, and so is an overlap of nothing.
func (c criterion) figure(e *Evaluation) float64 {
	switch c {
	case "loss":
		if loss := e.Loss(); tensor.IsFinite(loss) {
			return loss
		}
		return math.MaxFloat64
	case "miou":
		if v := float64(e.MeanOverlap()); v == v {
			return v
		}
		return 0
	}
	return e.Accuracy()
}

// better reports whether a figure beats the best so far.
func (c criterion) better(v, best float64) bool {
	if c == "loss" {
		return v < best
	}
	return v > best
}
