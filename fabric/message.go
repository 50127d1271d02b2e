package fabric

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// message is one that is made up for Send: its head, and views of values behind
// it. Each begins at a multiple of 8 bytes, so that who receives it can add the
// values where they are.
type message struct {
	head   []byte   // memory of the first piece
	pieces [][]byte // the first is for the head
}

// begin begins a message with its header, in the memory of the last one.
func (m *message) begin(h header) {
	m.head, m.pieces = h.append(m.head[:0]), append(m.pieces[:0], nil)
}

// mark puts down whether a part is there: all marks come before all values.
func (m *message) mark(there bool) {
	b := byte(absent)
	if there {
		b = present
	}
	m.head = append(m.head, b)
}

// values ends the head.
func (m *message) values() {
	m.head = append(m.head, zeros[:padding(len(m.head))]...)
	m.pieces[0] = m.head
}

// add puts a value behind the others. It has to be there until the message is sent.
func (m *message) add(value []byte) {
	m.pieces = append(m.pieces, value)
	if n := padding(len(value)); n > 0 {
		m.pieces = append(m.pieces, zeros[:n])
	}
}

// A part is there unless none of its replicas had rows.
const (
	absent  = 0
	present = 1
)

var zeros [alignment]byte

// alignment is where values begin in a message, in bytes.
const alignment = 8

func padding(n int) int { return -n & (alignment - 1) }

// received is a message that has come, of which the first bytes have been read.
type received struct {
	message []byte // as it came
	at      int
}

// marks reads n bytes that mark has written.
func (r *received) marks(n int) ([]byte, error) {
	marks, err := r.take(n)
	for _, m := range marks {
		if m > present {
			return nil, fmt.Errorf("a part is marked as %d: the ranks do not do the same", m)
		}
	}
	return marks, err
}

// take reads the next bytes, and what makes them a multiple of 8: they are a view.
func (r *received) take(n int) ([]byte, error) {
	left := len(r.message) - r.at
	if n+padding(n) > left {
		return nil, fmt.Errorf("%d bytes are left of a message, want %d: the ranks do not do the same", left, n)
	}
	b := r.message[r.at : r.at+n : r.at+n]
	r.at += n + padding(n)
	return b, nil
}

// end reports whether all was read.
func (r *received) end() error {
	if left := len(r.message) - r.at; left > 0 {
		return fmt.Errorf("a message has %d bytes too many: the ranks do not do the same", left)
	}
	return nil
}

// cut returns bytes of a part: a view, but for an absent one.
func cut(t tensor.Tensor, from, to int) tensor.Tensor {
	if !t.IsZero() {
		t.Bytes = t.Bytes[from:to:to]
	}
	return t
}
