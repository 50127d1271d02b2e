package study

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/problem"
)

// sampled compares the measured variances of small samples with the prediction: the mean of
// Q/n over samples of n independent values is 1 - 1/n of the true variance.
//
// A batch norm over features has one value per sample: n is the number of samples, and the prediction is
// exact. After a convolution a sample gives H x W values that resemble each other. The true ratio is between
// n = k (all equal) and n = k x H x W (independent), and obeys the same law with m effective values per
// sample: 1 - 1/(k*m), the same m for every k.
func (r *Results) sampled() *Finding {
	f := &Finding{Question: "Do sampled variances match the predicted 1 - 1/n?"}
	cases, met, spatial := 0, 0, 0
	worst, law := 0.0, 0.0
	var counting []float64 // values per sample, of each convolution's batch norm
	for _, s := range r.Samplings {
		for _, l := range s.Layers {
			if l.Elements > 1 {
				spatial++
				law = max(law, l.departure(s.Samples))
				_, large := l.ends(s.Samples)
				counting = append(counting, large.counting())
				f.Details = append(f.Details, l.spatial(s))
				continue
			}
			for _, v := range l.Ratios {
				want := 1 - 1/float64(v.PerReplica)
				cases++
				if math.Abs(v.Biased-want) <= 3*v.Error {
					met++
				}
				worst = max(worst, math.Abs(v.Biased-want))
				f.Details = append(f.Details, fmt.Sprintf("%s %s, %s: %.4f ± %.4f of the variance, "+
					"predicted %.4f", s.Model, l.Name, problem.Plural(v.PerReplica, "value"), v.Biased, v.Error, want))
			}
		}
	}
	if cases+spatial == 0 {
		return nil
	}
	if cases > 0 {
		f.Answer = fmt.Sprintf("Where values are independent (batch norm over features): %d of %s within "+
			"three standard errors of 1 - 1/n, largest distance %.4f. ", met, problem.Plural(cases, "case"), worst)
	}
	if spatial > 0 {
		f.Answer += fmt.Sprintf("After convolutions (%s) the law holds with the values per sample "+
			"that count, %.1f to %.1f of the H x W, because neighbours resemble each other: estimated from "+
			"large groups they predict the smallest groups to %.3f of the variance.",
			problem.Plural(spatial, "batch norm"), slices.Min(counting), slices.Max(counting), law)
	}
	return f
}

// counting returns the number m of independent values that one sample is worth. The ratio of groups of k
// samples is 1 - 1/(k*m).
func (v Ratio) counting() float64 { return 1 / (float64(v.PerReplica) * (1 - v.Biased)) }

// fewest is the number of groups that are needed for a ratio to be an estimate.
const fewest = 32

// ends returns two ratios: of the smallest groups, and of the largest groups where the samples make at
// least fewest groups.
func (l Layer) ends(samples int) (small, large Ratio) {
	order := func(a, b Ratio) int { return a.PerReplica - b.PerReplica }
	small = slices.MinFunc(l.Ratios, order)
	large = small
	for _, v := range l.Ratios {
		if v.PerReplica*fewest <= samples && v.PerReplica > large.PerReplica {
			large = v
		}
	}
	return small, large
}

// departure returns how far the ratio of the smallest groups is from the law 1 - 1/(k*m), with m from the
// largest groups.
func (l Layer) departure(samples int) float64 {
	small, large := l.ends(samples)
	return math.Abs(small.Biased - (1 - 1/(float64(small.PerReplica)*large.counting())))
}

// spatial describes the result of a convolution's batch norm.
func (l Layer) spatial(s Sampling) string {
	small, large := l.ends(s.Samples)
	k := float64(small.PerReplica)
	return fmt.Sprintf("%s %s, %s of %s: %.4f ± %.4f of the variance, between %.4f (one "+
		"value each) and %.4f (all independent); predicted after groups of %d, %.1f values that count: %.4f",
		s.Model, l.Name, problem.Plural(small.PerReplica, "sample"), problem.Plural(l.Elements, "value"),
		small.Biased, small.Error, 1-1/k, 1-1/(k*float64(l.Elements)), large.PerReplica,
		large.counting(), 1-1/(k*large.counting()))
}
