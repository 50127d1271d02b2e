package layout

import (
	"unsafe"

	"github.com/bnctl/bnctl/tensor"
)

// View returns the memory of b as a slice of elements.
func View[T tensor.Element](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// TransposeBytes transposes src, [rows][columns], into dst, [columns][rows].
func TransposeBytes(dst, src []byte, rows, columns int) {
	for r := range rows {
		for c, b := range src[r*columns : (r+1)*columns] {
			dst[c*rows+r] = b
		}
	}
}
