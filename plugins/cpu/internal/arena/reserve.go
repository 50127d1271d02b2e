package arena

import (
	"unsafe"

	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/tensor"
)

// reserve is memory for packed weights. It consists of large pieces in large pages, which
// are divided among packs, so that the first run does not wait for thousands of small
// pages. It is outside the heap: unpacked weights use no memory, and the garbage collector
// ignores it.
type reserve struct {
	piece  int // bytes of a piece
	pieces [][]byte
	unused []byte // unused bytes of the last piece
}

// newReserve returns a reserve for a program with the given number of bytes of
// state.
func newReserve(state int) reserve {
	const most = 32 << 20
	return reserve{piece: min(2*state, most)}
}

// Reserve returns n zeros for packed weights, aligned as tensors are, until Memory.Free.
func Reserve[T tensor.Element](m *Memory, n int) []T {
	r := &m.reserve
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	aligned := (size + tensor.Alignment - 1) &^ (tensor.Alignment - 1)
	if aligned > len(r.unused) {
		b := newPages(max(aligned, r.piece) + Slack)
		r.pieces, r.unused = append(r.pieces, b), b[:len(b)-Slack]
	}
	b := r.unused[:size:size]
	r.unused = r.unused[aligned:]
	return layout.View[T](b)
}

// passing is memory for packed weights in the last run of a program. Each layer packs its weights there and
// so overwrites the weights of the layer before. Packed weights are not read again after the last run, and
// touching new memory costs more than packing.
type passing struct {
	largest int // maximum number of values in a request
	pages   []byte
}

// want makes later calls of take for up to n values possible.
func (p *passing) want(n int) { p.largest = max(p.largest, n) }

// take returns n values with arbitrary contents, at most the number passed to want. They
// are valid until the next call.
func (p *passing) take(n int) []float32 {
	if p.pages == nil {
		p.pages = newPages(4*p.largest + Slack)
	}
	return layout.View[float32](p.pages)[:n:n]
}

// free releases the memory.
func (p *passing) free() {
	if p.pages != nil {
		freePages(p.pages)
	}
	*p = passing{}
}

// free releases the memory, including all parts that were handed out.
func (r *reserve) free() {
	for _, b := range r.pieces {
		freePages(b)
	}
	*r = reserve{}
}
