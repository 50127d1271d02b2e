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

// Passing is memory that packed weights have one after the other, each until the
// next: in a last run nobody reads them again, and memory that was not touched yet costs
// more than packing.
type Passing struct {
	most  int // values that anybody wants
	pages []byte
}

// Want says that somebody may take n values.
func (p *Passing) Want(n int) { p.most = max(p.most, n) }

// Take returns n values, at most what was wanted, until the next call. They may be anything.
func (p *Passing) Take(n int) []float32 {
	if p.pages == nil {
		p.pages = newPages(4*p.most + Slack)
	}
	return View[float32](p.pages)[:n:n]
}

// Free gives the memory back.
func (p *Passing) Free() {
	if p.pages != nil {
		freePages(p.pages)
	}
	*p = Passing{}
}

// Free gives the memory back. What was taken is gone.
func (r *Reserve) Free() {
	for _, b := range r.all {
		freePages(b)
	}
	*r = Reserve{}
}
