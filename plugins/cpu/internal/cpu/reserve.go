package cpu

import (
	"unsafe"

	"github.com/bnctl/bnctl/tensor"
)

// reserve is memory for packed weights: large pieces in large pages, of which
// packs take parts, so that the first run does not wait for thousands of small
// pages. It lies beside the heap: what is never packed takes no memory, and no
// collection of garbage counts it.
type reserve struct {
	piece int // bytes of a piece
	all   [][]byte
	rest  []byte // of the last piece
}

// newReserve returns a reserve for a program with so many bytes of state.
func newReserve(state int) reserve {
	const most = 32 << 20
	return reserve{piece: min(2*state, most)}
}

// take returns n zeros, aligned as tensors are, until free.
func take[T tensor.Element](r *reserve, n int) []T {
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	room := (size + tensor.Alignment - 1) &^ (tensor.Alignment - 1)
	if room > len(r.rest) {
		b := newPages(max(room, r.piece) + slack)
		r.all, r.rest = append(r.all, b), b[:len(b)-slack]
	}
	b := r.rest[:size:size]
	r.rest = r.rest[room:]
	return of[T](b)
}

// free gives the memory back. What was taken is gone.
func (r *reserve) free() {
	for _, b := range r.all {
		freePages(b)
	}
	*r = reserve{}
}
