package predict

import (
	"github.com/bnctl/bnctl/evaluation"
)

// scored is a score of a sample, and whether it is a positive.
type scored struct {
	score    float64
	positive bool
}

// auroc calls evaluation.AUROC.
func auroc(all []scored) float64 {
	scores := make([]evaluation.Scored, len(all))
	for i, s := range all {
		scores[i] = evaluation.Scored{Score: s.score, Positive: s.positive}
	}
	return evaluation.AUROC(scores)
}
