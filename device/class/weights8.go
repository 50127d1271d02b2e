package class

import (
	"math"

	"github.com/bnctl/bnctl/graph"
)

// WeightsInt8 has the attributes of a QuantizeWeight node: the scales of the product's operand
// and result.
type WeightsInt8 struct{ XScale, Scale float32 }

// WeightsInt8Of returns the WeightsInt8 of a node.
func WeightsInt8Of(n *graph.Node) WeightsInt8 {
	return WeightsInt8{float32(n.Float("x_scale")), float32(n.Float("scale"))}
}

// The largest magnitudes of a weight and a bias in steps, and the smallest step.
const (
	mostWeight = 127
	roomyBias  = graph.MostBias / 4
	leastStep  = 0x1p-60
)

// Channel quantises the weights of an output channel. It stores the weights as int8 in q, and q*factor, the
// values that they represent, in values. It returns the bias in steps of the int32 sum (steps), and one step
// of the sum in steps of the result (factor). q and values have the length of weight.
func (s WeightsInt8) Channel(q []int8, values, weight []float32, bias float32) (steps int32, factor float32) {
	step := float64(s.step(weight, bias))
	factor = float32(float64(float64(s.XScale)*step) / float64(s.Scale))
	for i, w := range weight {
		q[i] = int8(nearest(float64(w)/step, mostWeight))
		if values[i] = factor; factor <= math.MaxFloat32 {
			values[i] = float32(q[i]) * factor
		}
	}
	return int32(nearest(float64(bias)/float64(float64(s.XScale)*step), graph.MostBias)), factor
}

// step returns the scale of the weights of a channel. The largest weight is 127 steps, unless the bias
// would then need too many steps; in that case the scale is larger. It is infinite if a weight or the
// bias is not finite.
func (s WeightsInt8) step(weight []float32, bias float32) float32 {
	const magnitude, infinite = 0x7fffffff, 0x7f800000
	largest := uint32(0) // maximum of the magnitudes' bits; NaN has the largest bits
	for _, w := range weight {
		largest = max(largest, math.Float32bits(w)&magnitude)
	}
	if max(largest, math.Float32bits(bias)&magnitude) >= infinite {
		return math.Float32frombits(infinite)
	}
	byBias := math.Abs(float64(bias)) / float64(float64(s.XScale)*roomyBias)
	return float32(max(float64(math.Float32frombits(largest))/mostWeight, byBias, leastStep))
}

// nearest returns v clipped to [-limit, limit] and rounded to an integer, halves to even. NaN becomes 0.
func nearest(v, limit float64) float64 {
	if v != v {
		return 0
	}
	return math.RoundToEven(min(max(v, -limit), limit))
}
