package predict

import "github.com/bnctl/bnctl/train"

// scored is a score of a sample, and whether it is a positive.
type scored struct {
	score    float64
	positive bool
}

// auroc is train.AUROC.
func auroc(all []scored) float64 {
	scores := make([]train.Scored, len(all))
	for i, s := range all {
		scores[i] = train.Scored{Score: s.score, Positive: s.positive}
	}
	return train.AUROC(scores)
}
