package pickle

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// maxLine is the length limit for a line with a name or a number, in bytes.
const maxLine = 1024

// Reader reads pickles that follow one another.
type Reader struct {
	// Persistent returns the object for a persistent id: it is stored outside the pickle.
	// Without this function, persistent ids are rejected.
	Persistent func(id any) (any, error)

	src       *bufio.Reader
	offset    int64 // offset of the next byte
	remaining int64 // bytes that remain
	budget    int64 // memory that may still be used, in bytes
}

// NewReader returns a reader of the size bytes of src. Its values use at most about budget
// bytes of memory in total.
func NewReader(src io.Reader, size, budget int64) *Reader {
	return &Reader{src: bufio.NewReader(src), remaining: size, budget: budget}
}

// Offset returns the offset of the next byte: after Load, the byte after the pickle.
func (r *Reader) Offset() int64 { return r.offset }

// Skip leaves out n bytes.
func (r *Reader) Skip(n int64) error {
	if n < 0 || n > r.remaining {
		return fmt.Errorf("offset %d: %d bytes wanted, %d remain", r.offset, n, r.remaining)
	}
	for n > 0 {
		step, err := r.src.Discard(int(min(n, 1<<30)))
		r.advance(int64(step))
		if err != nil {
			return err
		}
		n -= int64(step)
	}
	return nil
}

// Uint64 reads a little-endian number between pickles.
func (r *Reader) Uint64() (uint64, error) {
	var b [8]byte
	err := r.fill(b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

func (r *Reader) advance(n int64) { r.offset, r.remaining = r.offset+n, r.remaining-n }

// charge subtracts n bytes from the budget.
func (r *Reader) charge(n int64) error {
	if r.budget -= n; r.budget < 0 {
		return fmt.Errorf("the pickle wants more memory than its file justifies")
	}
	return nil
}

func (r *Reader) fill(b []byte) error {
	if int64(len(b)) > r.remaining {
		return fmt.Errorf("truncated: %d bytes wanted, %d remain", len(b), r.remaining)
	}
	n, err := io.ReadFull(r.src, b)
	r.advance(int64(n))
	return err
}

// bytes reads n bytes into new memory.
func (r *Reader) bytes(n uint64) ([]byte, error) {
	if n > uint64(max(r.remaining, 0)) {
		return nil, fmt.Errorf("truncated: %d bytes wanted, %d remain", n, r.remaining)
	}
	if err := r.charge(costHeader + int64(n)); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, r.fill(b)
}

// uint reads a little-endian number of size bytes, 1 to 8.
func (r *Reader) uint(size int) (uint64, error) {
	var b [8]byte
	err := r.fill(b[:size])
	return binary.LittleEndian.Uint64(b[:]), err
}

// sized reads a length of size bytes, and then that number of bytes.
func (r *Reader) sized(size int) ([]byte, error) {
	n, err := r.uint(size)
	if err != nil {
		return nil, err
	}
	return r.bytes(n)
}

// line reads up to a newline. limit is the maximum length in bytes.
func (r *Reader) line(limit int64) (string, error) {
	var b []byte
	for int64(len(b)) <= limit {
		c, err := r.uint(1)
		if err != nil {
			return "", err
		}
		if c == '\n' {
			return string(b), nil
		}
		if err := r.charge(costByte); err != nil {
			return "", err
		}
		b = append(b, byte(c))
	}
	return "", fmt.Errorf("a line longer than %d bytes", limit)
}
