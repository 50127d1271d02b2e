package fabric

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// message is a message under construction for Send: its head, followed by views of values.
// Each value begins at a multiple of 8 bytes, so that the receiver can add values in place.
type message struct {
	head   []byte   // memory of the first piece
	pieces [][]byte // pieces; the first one is the head
}

// begin begins a message with its header, in the memory of the previous message.
func (m *message) begin(h header) {
	m.head, m.pieces = h.append(m.head[:0]), append(m.pieces[:0], nil)
}

// mark records whether a part (a partial value, or a range of one) is present. All marks precede all
// values.
func (m *message) mark(isPresent bool) {
	b := byte(absent)
	if isPresent {
		b = present
	}
	m.head = append(m.head, b)
}

// keep copies a value into the head, after all marks and before all values.
func (m *message) keep(value []byte) {
	m.pad()
	m.head = append(m.head, value...)
}

func (m *message) pad() { m.head = append(m.head, zeros[:padding(len(m.head))]...) }

// values ends the head of the message: only values follow.
func (m *message) values() {
	m.pad()
	m.pieces[0] = m.head
}

// add appends a value. The value must stay unchanged until the message is sent, or as long
// as it is lent.
func (m *message) add(value []byte) {
	m.pieces = append(m.pieces, value)
	if n := padding(len(value)); n > 0 {
		m.pieces = append(m.pieces, zeros[:n])
	}
}

// The marks of parts. A part is absent if none of its replicas has rows.
const (
	absent  = 0
	present = 1
)

var zeros [alignment]byte

// alignment is the alignment of values in a message, in bytes.
const alignment = 8

func padding(n int) int { return -n & (alignment - 1) }

// received is a message that has arrived, with a reading position. The bytes before the position have
// been read.
type received struct {
	pieces [][]byte // the remaining pieces
	offset int      // offset in the first piece
}

// next moves to the piece with the next byte and returns the rest of that piece.
func (r *received) next() []byte {
	for len(r.pieces) > 0 && r.offset == len(r.pieces[0]) {
		r.pieces, r.offset = r.pieces[1:], 0
	}
	if len(r.pieces) == 0 {
		return nil
	}
	return r.pieces[0][r.offset:]
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

// take returns a view of the next n bytes and skips the padding to a multiple of 8.
func (r *received) take(n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	left := r.next()
	if n > len(left) {
		return nil, fmt.Errorf("%d bytes are left of a message, want %d: the ranks do not do the same",
			len(left), n)
	}
	r.offset += n
	for pad := padding(n); pad > 0; {
		skipped := min(pad, len(r.next()))
		if skipped == 0 {
			return nil, fmt.Errorf("a message ends behind a value of %d bytes: the ranks do not do the same", n)
		}
		r.offset, pad = r.offset+skipped, pad-skipped
	}
	return left[:n:n], nil
}

// end returns an error unless the whole message has been read.
func (r *received) end() error {
	if left := len(r.next()); left > 0 {
		return fmt.Errorf("a message has %d bytes too many: the ranks do not do the same", left)
	}
	return nil
}

// cut returns bytes [from, to) of a part as a view. For an absent part it returns an empty tensor.
func cut(t tensor.Tensor, from, to int) tensor.Tensor {
	if !t.IsZero() {
		t.Bytes = t.Bytes[from:to:to]
	}
	return t
}
