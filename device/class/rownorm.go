package class

import (
	"math"

	"github.com/bnctl/bnctl/device/collective"
)

// Norms of each row alone. A layer norm has the moments of its line, in the order of the
// elements, as Channel defines them; a group norm those of each channel of the row, merged
// along the tree over the channels of the group. The numbers of Affine follow as for a
// batch norm.

// NoAdd is the value of Add without a summand: adding it does not change a float32.
var NoAdd = math.Copysign(0, -1)

// inverse returns s = 1/sqrt(variance + eps).
func inverse(m [3]float64, eps float64) float64 { return 1 / math.Sqrt(m[2]/m[0]+eps) }

// MergeMoments returns the moments of all channels of a group.
func MergeMoments(channels [][3]float64) [3]float64 {
	of := func(i int) [3]float64 { return channels[i] }
	return alongTree(len(channels), of, func(a, b [3]float64) [3]float64 {
		collective.Merge(a[:], a[:], b[:])
		return a
	})
}

// AddSums returns S1 and S2 of all channels of a group.
func AddSums(channels [][2]float64) [2]float64 {
	of := func(i int) [2]float64 { return channels[i] }
	return alongTree(len(channels), of, func(a, b [2]float64) [2]float64 {
		return [2]float64{a[0] + b[0], a[1] + b[1]}
	})
}

// NormOf returns the normalisation by moments m, times scale, plus add.
func NormOf(m [3]float64, eps, scale, add float64) Affine {
	return NewAffine(m[1], scale*inverse(m, eps), add)
}

// NormGradientOf returns the numbers of the gradient of a norm without scale by moments m
// and the sums S1 and S2.
func NormGradientOf(m [3]float64, sums [2]float64, eps float64) (a Affine, slope float32) {
	s := inverse(m, eps)
	return NewAffine(m[1], s, sums[0]/m[0]), float32(s * s * sums[1] / m[0])
}
