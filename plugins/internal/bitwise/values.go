package bitwise

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// Values is the kind of values that a comparison uses.
type Values int

// These are the kinds of values.
const (
	Normal  Values = iota // normally distributed
	Uneven                // inputs have zeros of both signs, subnormals, and a few very large values
	Awkward               // inputs and state have the values of Uneven
	Sick                  // like Awkward, but also with infinities and NaN
)

// fill sets the elements of a tensor. Labels are from -1 to 4, and variances are positive.
func (v Values) fill(r *rand.Rand, name string, t tensor.Tensor) {
	switch t.DType {
	case tensor.F32:
		for i := range t.F32() {
			t.F32()[i] = v.number(r)
			if strings.Contains(name, "var") {
				t.F32()[i] = float32(math.Abs(float64(t.F32()[i])))
			}
		}
	case tensor.F64:
		for i := range t.F64() {
			t.F64()[i] = r.NormFloat64()
		}
	case tensor.I32:
		for i := range t.I32() {
			t.I32()[i] = int32(r.IntN(6) - 1)
		}
	case tensor.I64:
		for i := range t.I64() {
			t.I64()[i] = int64(r.IntN(1000))
		}
	default:
		for i := range t.Bytes {
			t.Bytes[i] = byte(r.IntN(256))
		}
	}
}

func (v Values) number(r *rand.Rand) float32 {
	x := float32(r.NormFloat64())
	if v == Normal {
		return x
	}
	switch k := r.IntN(1000); {
	case k < 60:
		return 0
	case k < 100:
		return float32(math.Copysign(0, -1))
	case k < 130:
		return math.Float32frombits(r.Uint32() & 0x807fffff)
	case k < 131:
		return x * 1e18
	case k < 133:
		return x * 1e4
	case k < 140:
		return x * 1e-30
	case k == 999 && v == Sick:
		return float32(math.Inf(1 - 2*r.IntN(2)))
	case k == 998 && v == Sick:
		return float32(math.NaN())
	}
	return x
}
