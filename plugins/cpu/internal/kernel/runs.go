package kernel

import "fmt"

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
	case n == 3:
		for i := range count {
			*(*[3]uint32)(dst[i*to:]) = *(*[3]uint32)(src[i*from:])
		}
	case n < 3:
		copyFew(dst, src, n, count, to, from)
	case n < 8:
		for i := range count {
			d, s := dst[i*to:][:n], src[i*from:][:n]
			*(*[4]uint32)(d) = *(*[4]uint32)(s)
			*(*[4]uint32)(d[n-4:]) = *(*[4]uint32)(s[n-4:])
		}
	case n <= 16:
		for i := range count {
			d, s := dst[i*to:][:n], src[i*from:][:n]
			*(*[8]uint32)(d) = *(*[8]uint32)(s)
			*(*[8]uint32)(d[n-8:]) = *(*[8]uint32)(s[n-8:])
		}
	default:
		for i := range count {
			copy(dst[i*to:][:n], src[i*from:])
		}
	}
}

// copyFew is CopyRuns for runs of up to two values.
func copyFew(dst, src []uint32, n, count, to, from int) {
	for i := range count {
		d, s := dst[i*to:][:n], src[i*from:][:n]
		d[0] = s[0]
		if n > 1 {
			d[1] = s[1]
		}
	}
}
