package device

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/bnctl/bnctl/tensor"
)

// Finite returns an error that names the first element of a float32 state tensor that is
// infinite or NaN. It returns nil for tensors of other types.
func Finite(name string, t tensor.Tensor) error {
	if t.DType != tensor.F32 || AllFinite(t.F32()) {
		return nil
	}
	first, count := -1, 0
	for i, v := range t.F32() {
		if !tensor.IsFinite(v) {
			count++
			if first < 0 {
				first = i
			}
		}
	}
	where := fmt.Sprintf("element %d", first)
	if len(t.Shape) > 0 && t.Shape[0] > 0 {
		where = fmt.Sprintf("channel %d, element %d", first/(t.Count()/t.Shape[0]), first)
	}
	return fmt.Errorf("%s: %s is %v (%d of %d elements)", name, where, t.F32()[first], count, t.Count())
}

// AllFinite reports whether no value is infinite or NaN.
func AllFinite(x []float32) bool {
	// Infinities and NaN have all bits of the exponent set. Adding 1 to the exponent
	// then carries into the sign bit.
	const sign, one = 1 << 31, 1 << 23
	var a, b, c, d uint32
	for ; len(x) >= 4; x = x[4:] {
		a |= math.Float32bits(x[0])&^sign + one
		b |= math.Float32bits(x[1])&^sign + one
		c |= math.Float32bits(x[2])&^sign + one
		d |= math.Float32bits(x[3])&^sign + one
	}
	for _, v := range x {
		a |= math.Float32bits(v)&^sign + one
	}
	return bits.LeadingZeros32(a|b|c|d) > 0
}
