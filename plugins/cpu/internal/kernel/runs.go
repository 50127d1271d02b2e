package kernel

import (
	"fmt"
	"unsafe"
)

// CopyRuns copies count runs of n values: run i from src[i*from:] to dst[i*to:].
func CopyRuns(dst, src []uint32, n, count, to, from int) {
	if n == 0 || count == 0 {
		return
	}
	if (count-1)*to+n > len(dst) || (count-1)*from+n > len(src) || to < n || from < 0 {
		panic(fmt.Sprintf("kernel.CopyRuns: %d runs of %d values, %d apart in %d, to %d apart in %d", count, n,
			from, len(src), to, len(dst)))
	}
	switch {
	case n == to && n == from:
		copy(dst[:n*count], src)
	case n == 1:
		copyBlocks[[1]uint32](dst, src, count, to, from)
	case n == 2:
		copyBlocks[[2]uint32](dst, src, count, to, from)
	case n == 3:
		copyBlocks[[3]uint32](dst, src, count, to, from)
	case n == 4:
		copyBlocks[[4]uint32](dst, src, count, to, from)
	case n < 8:
		copyShort[[4]uint32](dst, src, n, count, to, from)
	case n <= 16:
		copyShort[[8]uint32](dst, src, n, count, to, from)
	default:
		for i := range count {
			copy(dst[i*to:][:n], src[i*from:])
		}
	}
}

// words are block sizes that the processor copies with one move, or with two.
type words interface {
	[1]uint32 | [2]uint32 | [3]uint32 | [4]uint32 | [8]uint32
}

// copyBlocks does the same as CopyRuns for runs of one block. CopyRuns has checked that all runs are
// inside dst and src.
func copyBlocks[B words](dst, src []uint32, count, to, from int) {
	const word = unsafe.Sizeof(uint32(0))
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	var i, k uintptr
	for range count {
		*(*B)(unsafe.Add(d, i)) = *(*B)(unsafe.Add(s, k))
		i, k = i+uintptr(to)*word, k+uintptr(from)*word
	}
}

// copyShort does the same as CopyRuns for runs of one or two blocks. The second block may overlap the
// first. CopyRuns has checked that all runs are inside dst and src.
func copyShort[B words](dst, src []uint32, n, count, to, from int) {
	const word = unsafe.Sizeof(uint32(0))
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	var one B
	second := uintptr(n)*word - unsafe.Sizeof(one)
	var i, k uintptr
	for range count {
		*(*B)(unsafe.Add(d, i)) = *(*B)(unsafe.Add(s, k))
		*(*B)(unsafe.Add(d, i+second)) = *(*B)(unsafe.Add(s, k+second))
		i, k = i+uintptr(to)*word, k+uintptr(from)*word
	}
}
