package wire

import (
	"math/bits"

	"google.golang.org/grpc/mem"
)

// Pool is the mem.BufferPool of connections that move tensors. gRPC's pools clear each buffer before it is
// filled, and lose their buffers in garbage collections; both cost a tenth of the processor time of a
// transfer. A Pool keeps some buffers of each size, and does not clear them.
var Pool mem.BufferPool = newPool()

// pool has free buffers by size: 2^(minPooled+i) bytes.
type pool [maxPooled - minPooled + 1]chan *[]byte

// The smallest and the largest size of pooled buffers are powers of two, and poolBytes limits the memory of
// each size.
const (
	minPooled = 12
	maxPooled = 21
	poolBytes = 4 << 20
)

func newPool() *pool {
	p := &pool{}
	for i := range p {
		p[i] = make(chan *[]byte, poolBytes>>(minPooled+i))
	}
	return p
}

// class returns the index of the smallest size of at least n bytes.
func class(n int) int { return max(0, bits.Len(uint(max(n, 1)-1))-minPooled) }

// Get implements mem.BufferPool. The contents of the buffer are undefined.
func (p *pool) Get(n int) *[]byte {
	i := class(n)
	if i >= len(p) {
		b := make([]byte, n)
		return &b
	}
	select {
	case b := <-p[i]:
		*b = (*b)[:n]
		return b
	default:
		b := make([]byte, n, 1<<(minPooled+i))
		return &b
	}
}

// Put implements mem.BufferPool. It ignores buffers of other sizes.
func (p *pool) Put(b *[]byte) {
	n := cap(*b)
	i := class(n)
	if i >= len(p) || n != 1<<(minPooled+i) {
		return
	}
	select {
	case p[i] <- b:
	default:
	}
}
