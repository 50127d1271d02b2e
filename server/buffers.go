package server

import (
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// bufferPool has memory of tensors from answered requests, which later requests use again. New memory would
// have to be cleared, mapped page by page and collected, which takes longer than reading a picture into it.
// The garbage collector drops buffers that are not used.
var bufferPool sync.Pool

// Sizes in bytes of the buffers that are pooled. Smaller buffers cost nothing, and a larger one may never be
// needed again.
const (
	minPooled = 16 << 10
	maxPooled = 4 << 20
)

// newBuffer returns n bytes with arbitrary contents.
func newBuffer(n int) []byte {
	if n < minPooled {
		return make([]byte, n)
	}
	if b, ok := bufferPool.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:n]
	}
	return tensor.New(tensor.U8, n).Bytes
}

// recycleBuffer returns memory of newBuffer to the pool. The caller must not use it afterwards.
func recycleBuffer(b []byte) {
	if cap(b) >= minPooled && cap(b) <= maxPooled {
		bufferPool.Put(&b)
	}
}
