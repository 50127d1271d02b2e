package doctor

import (
	"encoding/binary"

	"github.com/bnctl/bnctl/tensor"
)

// exponents are the bits of the exponent in the upper 16 of an element: all of
// them are set where it is NaN or infinite, and only there.
var exponents = map[tensor.DType]uint16{tensor.F32: 0x7f80, tensor.BF16: 0x7f80, tensor.F16: 0x7c00,
	tensor.F64: 0x7ff0}

// notFinite counts the elements that are NaN or infinite, and finds the first.
// Integers are finite.
func notFinite(t tensor.Tensor) (n, first int) {
	mask, ok := exponents[t.DType]
	if !ok {
		return 0, 0
	}
	size := t.DType.Size()
	for at := size - 2; at+1 < len(t.Bytes); at += size {
		if binary.LittleEndian.Uint16(t.Bytes[at:])&mask == mask {
			if n == 0 {
				first = at / size
			}
			n++
		}
	}
	return n, first
}
