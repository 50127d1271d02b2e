package server

import (
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// buffers are memory of tensors that were answered, for those that come: new
// memory is cleared, mapped page by page and collected, which takes longer than
// reading a picture into it. Go drops what nobody takes.
var buffers sync.Pool

// Buffers of other sizes are not kept: small ones cost nothing, and a large one
// may never be asked for again.
const (
	leastKept = 16 << 10
	mostKept  = 4 << 20
)

// newBuffer returns memory for n bytes, which hold anything.
func newBuffer(n int) []byte {
	if n < leastKept {
		return make([]byte, n)
	}
	if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:n]
	}
	return tensor.New(tensor.U8, n).Bytes
}

// keepBuffer takes back memory that newBuffer gave and nobody reads any more.
func keepBuffer(b []byte) {
	if cap(b) >= leastKept && cap(b) <= mostKept {
		buffers.Put(&b)
	}
}
