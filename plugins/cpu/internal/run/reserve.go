package run

import (
	"unsafe"

	"github.com/bnctl/bnctl/tensor"
)

// Reserve is memory for packed weights: large pieces in large pages, of which
// packs take parts, so that the first run does not wait for thousands of small
// pages. It lies beside the heap: what is never packed takes no memory, and no
// collection of garbage counts it.
type Reserve struct {
	piece int // bytes of a piece
	all   [][]byte
	rest  []byte // of the last piece
}

// NewReserve returns a reserve for a program with that number of bytes of
// state.
func NewReserve(state int) Reserve {
	const most = 32 << 20
	return Reserve{piece: min(2*state, most)}
}

// Take returns n zeros, aligned as tensors are, until free.
func Take[T tensor.Element](r *Reserve, n int) []T {
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	room := (size + tensor.Alignment - 1) &^ (tensor.Alignment - 1)
	if room > len(r.rest) {
		b := newPages(max(room, r.piece) + Slack)
		r.all, r.rest = append(r.all, b), b[:len(b)-Slack]
	}
	b := r.rest[:size:size]
	r.rest = r.rest[room:]
	return View[T](b)
}

// Free gives the memory back. What was taken is gone.
func (r *Reserve) Free() {
	for _, b := range r.all {
		freePages(b)
	}
	*r = Reserve{}
}
