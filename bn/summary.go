package bn

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Summary describes the running statistics of a batch norm in a few numbers, and the distance of the
// statistics from a batch and from the running statistics at an earlier time. Distances are in
// running standard deviations, the root of variance plus eps, and are means over the channels that
// are alive and finite.
type Summary struct {
	Layer     string  `json:"layer"`
	Channels  int     `json:"channels"`
	NonFinite int     `json:"non_finite,omitempty"` // channels with a mean or variance that is not finite
	Dead      int     `json:"dead"`                 // channels without signal: see Norm.Dead
	Mean      float32 `json:"mean"`                 // median of the absolute running means
	VarMin    float32 `json:"var_min"`              // smallest of the running variances
	VarMedian float32 `json:"var_median"`
	VarMax    float32 `json:"var_max"`

	// Gap is the distance of the mean of a batch from the running mean. Ratio is the median of the variance of
	// the batch over the running variance: 1 if they agree. Spread is the standard deviation of the means of
	// the replicas of that batch. All are nil without a batch, and Spread is also nil with one replica.
	Gap    *float32 `json:"gap,omitempty"`
	Ratio  *float32 `json:"ratio,omitempty"`
	Spread *float32 `json:"spread,omitempty"`
	// Drift is the distance of the running mean from an earlier one; nil without an earlier one.
	Drift *float32 `json:"drift,omitempty"`
}

// Dead reports whether a channel passes no signal on: its variance is below 1e-30, or gamma is below 1e-4.
// Examine warns of these channels.
func (n *Norm) Dead(channel int) bool {
	if v := n.Variance.F32()[channel]; v < tinyVariance {
		return true
	}
	if n.Gamma.IsZero() {
		return false
	}
	g := n.Gamma.F32()[channel]
	return g < tinyGamma && g > -tinyGamma
}

// Summarise returns the summary of n, which must be complete (see Examine). moments, f64 [R,1+2C],
// holds the moments of a batch by replica, and earlier is n at an earlier time. Both may be zero
// values.
func Summarise(n Norm, moments tensor.Tensor, earlier Norm) Summary {
	mean, variance := n.Mean.F32(), n.Variance.F32()
	s := Summary{Layer: n.Name, Channels: len(mean)}
	var alive []int
	var means, variances []float32
	for c := range mean {
		if notFinite(mean[c]) || notFinite(variance[c]) {
			s.NonFinite++
			continue
		}
		means, variances = append(means, max(mean[c], -mean[c])), append(variances, variance[c])
		if n.Dead(c) {
			s.Dead++
		} else {
			alive = append(alive, c)
		}
	}
	if len(means) > 0 {
		s.Mean, s.VarMin, s.VarMedian, s.VarMax = median(means), slices.Min(variances), median(variances),
			slices.Max(variances)
	}
	deviation := func(c int) float64 { return math.Sqrt(float64(variance[c]) + n.Eps) }
	if !earlier.Mean.IsZero() {
		was := earlier.Mean.F32()
		s.Drift = meanOver(alive, func(c int) float64 {
			return math.Abs(float64(mean[c])-float64(was[c])) / deviation(c)
		})
	}
	if !moments.IsZero() {
		s.compare(moments, alive, mean, variance, deviation)
	}
	return s
}

// compare fills in how far the moments of a batch are from the running statistics.
func (s *Summary) compare(moments tensor.Tensor, alive []int, mean, variance []float32,
	deviation func(c int) float64) {
	batch := Pool(moments, 1)
	if batch[0] < 2 {
		return
	}
	s.Gap = meanOver(alive, func(c int) float64 { return math.Abs(batch[1+c]-float64(mean[c])) / deviation(c) })
	var ratios []float32
	for _, c := range alive {
		ratios = append(ratios, float32(batch[1+s.Channels+c]/(batch[0]-1)/float64(variance[c])))
	}
	if ratios = slices.DeleteFunc(ratios, notFinite); len(ratios) > 0 {
		r := median(ratios)
		s.Ratio = &r
	}
	if replicas := moments.Shape[0]; replicas > 1 {
		s.Spread = meanOver(alive, func(c int) float64 { return spread(moments, 1+c) / deviation(c) })
	}
}

// spread returns the standard deviation of a column of moments over the replicas that have values.
func spread(moments tensor.Tensor, column int) float64 {
	m, width := moments.F64(), moments.Shape[1]
	n, sum := 0.0, 0.0
	for r := range moments.Shape[0] {
		if m[r*width] > 0 {
			n, sum = n+1, sum+m[r*width+column]
		}
	}
	if n < 2 {
		return 0
	}
	squares := 0.0
	for r := range moments.Shape[0] {
		if m[r*width] > 0 {
			d := m[r*width+column] - sum/n
			squares += float64(d * d)
		}
	}
	return math.Sqrt(squares / (n - 1))
}

// meanOver returns the mean of f over channels, or nil if there are no channels or the mean is not
// finite.
func meanOver(channels []int, f func(c int) float64) *float32 {
	sum := 0.0
	for _, c := range channels {
		sum += f(c)
	}
	v := float32(sum / float64(len(channels)))
	if len(channels) == 0 || notFinite(v) {
		return nil
	}
	return &v
}

// median returns the middle value of a list, or the larger of the two middle values.
func median(values []float32) float32 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
