package doctor

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestNotFinite has the patterns of IEEE 754 and of bfloat16: infinities, NaN, and the
// largest and smallest finite numbers.
func TestNotFinite(t *testing.T) {
	for _, c := range []struct {
		dtype           tensor.DType
		finite, neither []uint64
	}{
		{tensor.F32, []uint64{0, 0x7f7fffff, 0xff7fffff, 1, 0x80000000},
			[]uint64{0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001}},
		{tensor.BF16, []uint64{0, 0x7f7f, 0xff7f, 1}, []uint64{0x7f80, 0xff80, 0x7fc0, 0xff81}},
		{tensor.F16, []uint64{0, 0x7bff, 0xfbff, 1}, []uint64{0x7c00, 0xfc00, 0x7e00, 0x7c01}},
		{tensor.F64, []uint64{0, math.Float64bits(math.MaxFloat64), 1},
			[]uint64{math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), math.Float64bits(math.NaN())}},
		{tensor.I32, []uint64{0x7f800000, 0x7fffffff}, nil},
	} {
		size := c.dtype.Size()
		var b []byte
		for _, bits := range append(append([]uint64{}, c.finite...), c.neither...) {
			b = append(b, binary.LittleEndian.AppendUint64(nil, bits)[:size]...)
		}
		n, first := notFinite(tensor.Tensor{DType: c.dtype, Shape: []int{len(b) / size}, Bytes: b})
		if n != len(c.neither) || n > 0 && first != len(c.finite) {
			t.Errorf("%v: %d elements, the first %d; want %d from %d", c.dtype, n, first, len(c.neither), len(c.finite))
		}
		for at := range 19 * len(c.neither) { // one bad element among finite ones, at every position
			bits, b := c.neither[at/19], make([]byte, 0, 19*size)
			for i := range 19 {
				v := c.finite[i%len(c.finite)]
				if i == at%19 {
					v = bits
				}
				b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
			}
			n, first := notFinite(tensor.Tensor{DType: c.dtype, Shape: []int{19}, Bytes: b})
			if n != 1 || first != at%19 {
				t.Errorf("%v: %x as element %d of 19: %d elements, the first %d", c.dtype, bits, at%19, n, first)
			}
		}
	}
}
