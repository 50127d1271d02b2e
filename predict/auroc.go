package predict

import (
	"cmp"
	"slices"
)

// scored is a score of a sample, and whether it is a positive.
type scored struct {
	score    float64
	positive bool
}

// auroc returns the area under the curve of true over false positives: the probability that a
// positive has a larger score than a negative, of equal scores a half. It is NaN if there are
// no positives, or no negatives. It sorts all.
func auroc(all []scored) float64 {
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	positives, ranks := 0.0, 0.0
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && cmp.Compare(all[to].score, all[from].score) == 0 {
			to++
		}
		for _, a := range all[from:to] {
			if a.positive {
				positives++
				ranks += float64(float64(from+to+1) / 2)
			}
		}
		from = to
	}
	negatives := float64(len(all)) - positives
	return (ranks - float64(float64(positives*(positives+1))/2)) / (positives * negatives)
}
