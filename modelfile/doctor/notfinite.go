package doctor

import (
	"encoding/binary"

	"github.com/bnctl/bnctl/tensor"
)

// exponents are the exponent bits in the upper 16 bits of an element. All of these bits are
// set if the element is NaN or infinite, and not if it is finite.
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
	if allFinite(t.Bytes, size, mask) {
		return 0, 0
	}
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

// allFinite reports whether every element has a zero bit in its exponent; mask is the
// exponent's part of its last two bytes. It tests eight bytes at a time: adding one to an
// exponent with all bits set carries into the sign.
func allFinite(x []byte, size int, mask uint16) bool {
	var exponent uint64
	for at := 0; at < 8; at += size {
		exponent |= uint64(mask) << (8*(at+size) - 16)
	}
	sign, one := exponent<<1&^exponent, exponent&^(exponent<<1)
	var carried uint64
	for ; len(x) >= 8; x = x[8:] {
		carried |= binary.LittleEndian.Uint64(x)&^sign + one
	}
	for ; len(x) >= size; x = x[size:] {
		if binary.LittleEndian.Uint16(x[size-2:])&mask == mask {
			return false
		}
	}
	return carried&sign == 0
}
