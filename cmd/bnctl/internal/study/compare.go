package study

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// difference is the mean change of a measure from one case of a study to another. It is computed for each
// seed.
type difference struct {
	Mean   float64 // mean over the seeds that both cases have
	Margin float64 // half of the 95 % confidence interval by Student's t; infinite with one seed
	Seeds  int
	Up     int // number of seeds with a difference above 0
}

// paired compares two cases for each seed. Everything that is drawn from a seed, most importantly the order
// of the samples, is the same in both cases.
func (r *Results) paired(a, b map[uint64]Score, measure func(Score) float64) difference {
	var d []float64
	for _, seed := range r.Seeds {
		x, ok := a[seed]
		y, exists := b[seed]
		if ok && exists {
			d = append(d, measure(x)-measure(y))
		}
	}
	if len(d) == 0 {
		return difference{Margin: math.Inf(1)}
	}
	out := difference{Mean: stat.Mean(d, nil), Margin: math.Inf(1), Seeds: len(d)}
	for _, v := range d {
		if v > 0 {
			out.Up++
		}
	}
	if n := float64(len(d)); n > 1 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
		out.Margin = t * math.Sqrt(stat.Variance(d, nil)/n)
	}
	return out
}

// Clear reports whether the difference is more than chance, because its confidence interval does not contain
// 0.
func (d difference) Clear() bool { return d.Seeds > 0 && math.Abs(d.Mean) > d.Margin }

// sign is 1 or -1 if the difference is more than chance, else 0.
func (d difference) sign() int {
	switch {
	case !d.Clear():
		return 0
	case d.Mean > 0:
		return 1
	}
	return -1
}

// verdict is a judgement of a change by both accuracy and loss, from the same pairs of runs.
type verdict int

const (
	noDifference   verdict = iota // both may be chance
	oneSeed                       // with one seed, chance cannot be estimated
	better                        // accuracy and loss are better beyond chance
	betterAccuracy                // accuracy is better beyond chance; the loss may be chance
	betterLoss                    // the loss is better beyond chance; accuracy may be chance
	opposed                       // accuracy or loss is better and the other is worse, both beyond chance
	worse                         // accuracy or loss is worse beyond chance, and neither is better
)

// judge returns the verdict on a change, from the gain of accuracy and the increase of the loss. It is
// better only if both confidence intervals exclude 0.
func judge(gain, lossIncrease difference) verdict {
	a, l := gain.sign(), -lossIncrease.sign()
	switch {
	case gain.Seeds == 1:
		return oneSeed
	case a > 0 && l > 0:
		return better
	case a*l < 0:
		return opposed
	case a < 0 || l < 0:
		return worse
	case a > 0:
		return betterAccuracy
	case l > 0:
		return betterLoss
	}
	return noDifference
}

// text returns the difference as text, with at least the given number of decimals. It has more decimals if
// the interval of a difference beyond chance would otherwise seem to contain 0.
func (d difference) text(digits int, unit string) string {
	if math.IsInf(d.Margin, 1) {
		return fmt.Sprintf("%+.*f%s (one seed: no interval)", digits, d.Mean, unit)
	}
	const limit = 9
	rounded := func(v float64) float64 { return math.Round(v * math.Pow10(digits)) }
	for d.Clear() && digits < limit && rounded(math.Abs(d.Mean)) <= rounded(d.Margin) {
		digits++
	}
	return fmt.Sprintf("%+.*f ± %.*f%s", digits, d.Mean, digits, d.Margin, unit)
}

// points formats a difference of accuracies, in percentage points.
func (d difference) points() string { return d.text(2, " points") }

// loss formats a difference of losses.
func (d difference) loss() string { return d.text(4, "") }

func accuracy(s Score) float64 { return 100 * s.fraction() }
func loss(s Score) float64     { return s.Loss }
