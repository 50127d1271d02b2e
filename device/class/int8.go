package class

import (
	"math"

	"github.com/bnctl/bnctl/graph"
)

// Int8 has the zero point and the bounds of an int8 result: the attributes zero, min and max
// of a node. The arithmetic is the same in every class (docs/int8.md).
type Int8 struct{ Zero, Min, Max int32 }

// Int8Of returns the Int8 of a node.
func Int8Of(n *graph.Node) Int8 {
	q := Int8{Max: 255}
	for _, a := range n.Attributes() {
		switch a.Key {
		case "zero":
			q.Zero = int32(n.Int("zero"))
		case "min":
			q.Min = int32(n.Int("min"))
		case "max":
			q.Max = int32(n.Int("max"))
		}
	}
	return q
}

// To returns v, given in steps of the result, as a byte. v is rounded to an integer, halves to
// even; then Zero is added and the sum is clipped to [Min, Max]. NaN becomes Zero.
func (q Int8) To(v float32) uint8 {
	switch r := math.RoundToEven(float64(v)); {
	case r != r:
		return uint8(q.Zero)
	case r <= float64(q.Min-q.Zero):
		return uint8(q.Min)
	case r >= float64(q.Max-q.Zero):
		return uint8(q.Max)
	default:
		return uint8(int32(r) + q.Zero)
	}
}

// Requantise converts an int32 sum to a byte. The factor is the size of one step of the sum, in steps
// of the result.
func (q Int8) Requantise(sum int32, factor float32) uint8 { return q.To(float32(sum) * factor) }

// Quantize converts x to a byte. scale is the step of the result.
func (q Int8) Quantize(x, scale float32) uint8 { return q.To(x / scale) }

// MeanBy returns factor/n, which turns a sum of n elements into their mean. factor is the factor for a
// single element.
func MeanBy(factor float64, n int) float32 { return float32(factor / float64(n)) }
