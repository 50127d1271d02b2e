package evaluation

import (
	"cmp"
	"math"
	"slices"
)

// Scored is a score of a sample, and whether it is a positive.
type Scored struct {
	Score    float64
	Positive bool
}

// AUROC returns the area under the curve of true positives over false positives. This is the probability that
// a positive has a larger score than a negative, where equal scores count a half. It is NaN if there are no
// positives, or no negatives. AUROC sorts scores.
func AUROC(scores []Scored) float64 {
	slices.SortFunc(scores, func(a, b Scored) int { return cmp.Compare(a.Score, b.Score) })
	positives, ranks := 0.0, 0.0
	for from := 0; from < len(scores); {
		to := from
		for to < len(scores) && cmp.Compare(scores[to].Score, scores[from].Score) == 0 {
			to++
		}
		for _, a := range scores[from:to] {
			if a.Positive {
				positives++
				ranks += float64(float64(from+to+1) / 2)
			}
		}
		from = to
	}
	negatives := float64(len(scores)) - positives
	return (ranks - float64(float64(positives*(positives+1))/2)) / (positives * negatives)
}

// areas collects the scores of an evaluation, one list for each label, to compute the mean
// of AUROC. With two classes there is one list, of the scores of the second class.
type areas [][]Scored

// observers returns observers that collect the scores and then call the observers o.
func (a *areas) observers(o Observers) Observers {
	before, beforeAll := o.Observe, o.ObserveAll
	o.Observe = func(sample, label int, logs []float64, margin float64) {
		if before != nil {
			before(sample, label, logs, margin)
		}
		if len(logs) == 2 {
			a.add(0, margin, label == 1)
		}
	}
	o.ObserveAll = func(sample int, label []int32, z []float64) {
		if beforeAll != nil {
			beforeAll(sample, label, z)
		}
		for k, l := range label {
			if l >= 0 {
				a.add(k, z[k], l == 1)
			}
		}
	}
	return o
}

func (a *areas) add(k int, score float64, positive bool) {
	for len(*a) <= k {
		*a = append(*a, nil)
	}
	(*a)[k] = append((*a)[k], Scored{score, positive})
}

// mean returns the mean of AUROC over the labels that have both positives and negatives, or
// NaN if there are none.
func (a *areas) mean() float64 {
	if a == nil {
		return math.NaN()
	}
	sum, n := 0.0, 0.0
	for _, scores := range *a {
		if v := AUROC(scores); v == v {
			sum, n = sum+v, n+1
		}
	}
	return float64(fraction(sum, n))
}
