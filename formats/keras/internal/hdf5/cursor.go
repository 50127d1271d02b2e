package hdf5

import (
	"encoding/binary"
	"fmt"
)

// undefined is the address of parts that were never written.
const undefined = ^uint64(0)

// cursor reads through a piece of the file. The first error is kept: all later reads return
// zero.
type cursor struct {
	b    []byte
	base uint64 // offset of b in the file
	pos  int
	err  error
}

// fail records an error at the current position, unless there is one already.
func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("offset %d: %w", c.base+uint64(c.pos), fmt.Errorf(format, args...))
	}
}

// take returns the next n bytes; nil after an error.
func (c *cursor) take(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > len(c.b)-c.pos {
		c.fail("%d bytes wanted, %d are there", n, len(c.b)-c.pos)
		return nil
	}
	p := c.b[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return p
}

func (c *cursor) uint(n int) uint64 {
	var word [8]byte
	copy(word[:], c.take(n))
	return binary.LittleEndian.Uint64(word[:])
}

func (c *cursor) u8() int     { return int(c.uint(1)) }
func (c *cursor) u16() int    { return int(c.uint(2)) }
func (c *cursor) u32() int    { return int(c.uint(4)) }
func (c *cursor) u64() uint64 { return c.uint(8) }

// rest returns the remaining bytes.
func (c *cursor) rest() []byte { return c.take(len(c.b) - c.pos) }

// expect reads a signature.
func (c *cursor) expect(sign, structure string) {
	if p := c.take(len(sign)); c.err == nil && string(p) != sign {
		c.pos -= len(sign)
		c.fail("%s begins with %q, want %q", structure, p, sign)
	}
}

// version reads a version number of one byte, which must be one of the known ones.
func (c *cursor) version(structure string, known ...int) int {
	v := c.u8()
	for _, k := range known {
		if v == k || c.err != nil {
			return v
		}
	}
	c.pos--
	c.fail("%s of version %d; versions %v are supported", structure, v, known)
	return v
}

// aligned returns the next n bytes and skips to the next multiple of eight after their
// start.
func (c *cursor) aligned(n int) []byte {
	p := c.take(n)
	if pad := -n & 7; c.err == nil {
		c.take(min(pad, len(c.b)-c.pos))
	}
	return p
}

// sub returns a cursor over the next n bytes.
func (c *cursor) sub(n int) *cursor {
	base := c.base + uint64(c.pos)
	return &cursor{b: c.take(n), base: base, err: c.err}
}
