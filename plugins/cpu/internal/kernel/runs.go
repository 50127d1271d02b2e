package kernel

import (
	"fmt"
	"unsafe"
)

// CopyRuns copies count runs of n values: run i from src[i*srcStep:] to dst[i*dstStep:].
func CopyRuns(dst, src []uint32, n, count, dstStep, srcStep int) {
	if n == 0 || count == 0 {
		return
	}
	if (count-1)*dstStep+n > len(dst) || (count-1)*srcStep+n > len(src) || dstStep < n || srcStep < 0 {
		panic(fmt.Sprintf("kernel.CopyRuns: %d runs of %d values, %d apart in %d, to %d apart in %d", count, n,
			srcStep, len(src), dstStep, len(dst)))
	}
	switch {
	case n == dstStep && n == srcStep:
		copy(dst[:n*count], src)
	case n == 1:
		copyBlocks[[1]uint32](dst, src, count, dstStep, srcStep)
	case n == 2:
		copyBlocks[[2]uint32](dst, src, count, dstStep, srcStep)
	case n == 3:
		copyBlocks[[3]uint32](dst, src, count, dstStep, srcStep)
	case n == 4:
		copyBlocks[[4]uint32](dst, src, count, dstStep, srcStep)
	case n < 8:
		copyShort[[4]uint32](dst, src, n, count, dstStep, srcStep)
	case n <= 16:
		copyShort[[8]uint32](dst, src, n, count, dstStep, srcStep)
	default:
		for i := range count {
			copy(dst[i*dstStep:][:n], src[i*srcStep:])
		}
	}
}

// words are block sizes that the processor copies with one move, or with two.
type words interface {
	[1]uint32 | [2]uint32 | [3]uint32 | [4]uint32 | [8]uint32
}

// copyBlocks does the same as CopyRuns for runs of one block. CopyRuns has checked that all runs are
// inside dst and src.
func copyBlocks[B words](dst, src []uint32, count, dstStep, srcStep int) {
	const word = unsafe.Sizeof(uint32(0))
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	var i, k uintptr
	for range count {
		*(*B)(unsafe.Add(d, i)) = *(*B)(unsafe.Add(s, k))
		i, k = i+uintptr(dstStep)*word, k+uintptr(srcStep)*word
	}
}

// copyShort does the same as CopyRuns for runs of one or two blocks. The second block may overlap the
// first. CopyRuns has checked that all runs are inside dst and src.
func copyShort[B words](dst, src []uint32, n, count, dstStep, srcStep int) {
	const word = unsafe.Sizeof(uint32(0))
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	var one B
	second := uintptr(n)*word - unsafe.Sizeof(one)
	var i, k uintptr
	for range count {
		*(*B)(unsafe.Add(d, i)) = *(*B)(unsafe.Add(s, k))
		*(*B)(unsafe.Add(d, i+second)) = *(*B)(unsafe.Add(s, k+second))
		i, k = i+uintptr(dstStep)*word, k+uintptr(srcStep)*word
	}
}
