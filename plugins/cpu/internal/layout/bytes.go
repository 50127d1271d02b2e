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

// TransposeBytes transposes the slice from, [rows][columns], into the slice to, [columns][rows].
func TransposeBytes(to, from []byte, rows, columns int) {
	for r := range rows {
		for c, b := range from[r*columns : (r+1)*columns] {
			to[c*rows+r] = b
		}
	}
}
