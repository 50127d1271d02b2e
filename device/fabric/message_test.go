package fabric

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

// whole returns a message with these marks and values, as the receiver gets it.
func whole(marks []bool, values ...[]byte) []byte {
	var m message
	m.begin(header{kind: partials, round: 1, sequence: 2})
	for _, there := range marks {
		m.mark(there)
	}
	m.values()
	for _, v := range values {
		m.add(v)
	}
	return slices.Concat(m.pieces...)
}

// TestMessages checks that a message is read as it was written, with each value at a
// multiple of 8 bytes.
func TestMessages(t *testing.T) {
	values := [][]byte{[]byte("12345678"), {}, []byte("abc"), bytes.Repeat([]byte("x"), 4097)}
	m := whole([]bool{true, false, true}, values...)
	if h, err := parse(m); err != nil || h != (header{partials, 1, 2}) {
		t.Errorf("header %+v, %v", h, err)
	}
	r := received{[][]byte{m[:35], m[35:40], m[40:]}, headerBytes}
	if marks, err := r.marks(3); err != nil || !slices.Equal(marks, []byte{present, absent, present}) {
		t.Errorf("marks %v, %v", marks, err)
	}
	for _, want := range values {
		got, err := r.take(len(want))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes and %v, want %d", len(got), err, len(want))
		}
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(got))); at%alignment != 0 {
			t.Errorf("%q begins at %#x", want, at)
		}
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// FuzzMessage checks that reading any bytes gives a message or an error.
func FuzzMessage(f *testing.F) {
	f.Add(whole([]bool{true, true}, make([]byte, 12), make([]byte, 12)), 2, 12)
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}, 1, 4)
	f.Fuzz(func(t *testing.T, b []byte, parts, size int) {
		if _, err := parse(b); err != nil || parts < 0 || parts > 1<<20 || size < 0 || size > 1<<30 {
			return
		}
		r := received{[][]byte{b}, headerBytes}
		marks, err := r.marks(parts)
		read := headerBytes + parts + padding(parts)
		for _, m := range marks {
			if m == present && err == nil {
				_, err = r.take(size)
				read += size + padding(size)
			}
		}
		if err == nil && r.end() == nil && read != len(b) {
			t.Errorf("%d of %d bytes were read", read, len(b))
		}
	})
}
