package class

import (
	"math"

	"github.com/bnctl/bnctl/device/collective"
)

// This file defines norms within a row. A layer norm uses the moments of a line of elements,
// computed in their order by Channel. A group norm computes the moments of each channel of the
// row, and merges them along the tree over the channels of the group. The parameters in Affine
// are then derived from the moments as for a batch norm.

// NoAdd is -0, the value of Affine.Add for a norm without a shift. Adding it changes no float32.
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

// AddSums returns the gradient sums of a group, S1 = sum of dy and S2 = sum of dy*(x - mean): the totals
// of the sums of its channels.
func AddSums(channels [][2]float64) [2]float64 {
	of := func(i int) [2]float64 { return channels[i] }
	return alongTree(len(channels), of, func(a, b [2]float64) [2]float64 {
		return [2]float64{a[0] + b[0], a[1] + b[1]}
	})
}

// NormOf returns the parameters of a normalisation by moments m, followed by a scale and a shift.
func NormOf(m [3]float64, eps, scale, add float64) Affine {
	return NewAffine(m[1], scale*inverse(m, eps), add)
}

// NormGradientOf returns the parameters for Affine.Gradient of a norm without scale. m has the moments.
// sums has S1 and S2: see AddSums.
func NormGradientOf(m [3]float64, sums [2]float64, eps float64) (a Affine, slope float32) {
	s := inverse(m, eps)
	return NewAffine(m[1], s, sums[0]/m[0]), float32(s * s * sums[1] / m[0])
}
