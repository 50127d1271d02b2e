package train

import (
	"math"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// criterion is the figure of an evaluation that says which weights are best, and
// whether patience is lost: "accuracy", "loss" or "miou".
type criterion string

// criterionOf returns that of Recipe.Save; accuracy where it names none.
func criterionOf(save string) criterion {
	if name, ok := strings.CutPrefix(save, "best:"); ok {
		return criterion(name)
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
