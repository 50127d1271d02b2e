package remote

import (
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// messagePool keeps the memory of messages and outputs that are not used any more. New memory must be
// cleared, and its pages are mapped at the first access. For messages of megabytes this costs more time
// than copying the messages.
type messagePool struct {
	mu   sync.Mutex
	free [][]byte
}

const (
	// minPooled is the minimum size of memory that is pooled.
	minPooled = 32 << 10
	// maxPooled is the maximum number of pooled pieces: two in each lane of a peer.
	maxPooled = 8
)

// get returns an empty slice with capacity for a message of n bytes. It uses the smallest pooled piece
// that is large enough, or new memory.
func (m *messagePool) get(n int) []byte {
	if b := m.find(n); b != nil {
		return b
	}
	return make([]byte, 0, n)
}

// find is like get but with pooled memory only. It returns nil if all pieces are too small.
func (m *messagePool) find(n int) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	best := -1
	for i, b := range m.free {
		if cap(b) >= n && n >= minPooled && (best < 0 || cap(b) < cap(m.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b, last := m.free[best], len(m.free)-1
	m.free[best], m.free[last] = m.free[last], nil
	m.free = m.free[:last]
	return b[:0]
}

// put returns the memory of a message to the pool. If the pool is full, the smallest piece is dropped.
func (m *messagePool) put(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cap(b) < minPooled {
		return
	}
	if len(m.free) < maxPooled {
		m.free = append(m.free, b)
		return
	}
	least := 0
	for i, f := range m.free {
		if cap(f) < cap(m.free[least]) {
			least = i
		}
	}
	if cap(m.free[least]) < cap(b) {
		m.free[least] = b
	}
}

// output returns a tensor of the type of t with arbitrary elements.
func (m *messagePool) output(t tensor.Tensor) tensor.Tensor {
	n := t.Count() * t.DType.Size()
	if b := m.find(n); b != nil {
		return tensor.Tensor{DType: t.DType, Shape: t.Shape, Bytes: b[:n:n]}
	}
	return tensor.New(t.DType, t.Shape...)
}

// Reuse implements device.Reuser.
func (x *executable) Reuse(outputs []tensor.Tensor) {
	for _, t := range outputs {
		x.free.put(t.Bytes[:0:cap(t.Bytes)])
	}
}
