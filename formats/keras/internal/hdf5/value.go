package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Value is the content of a data set or an attribute.
type Value struct {
	Type  Type
	Shape []int // empty for a scalar
	data  data
	f     *File
	name  string
}

// data is the place of the elements, in row-major order: in memory, or at an offset of the
// file.
type data struct {
	bytes   []byte // nil if they are in the file
	address int64
	size    int
}

func inMemory(b []byte) data { return data{bytes: b, size: len(b)} }

// Size returns the size of all elements in bytes.
func (v Value) Size() int { return v.data.size }

// ReadInto fills dst, which has Size bytes, with the elements in row-major order.
func (v Value) ReadInto(dst []byte) error {
	if v.data.bytes != nil || v.data.size == 0 {
		copy(dst, v.data.bytes)
		return nil
	}
	if _, err := io.ReadFull(io.NewSectionReader(v.f.src, v.data.address, int64(len(dst))), dst); err != nil {
		return fmt.Errorf("hdf5: %s: data at offset %d: %w", v.name, v.data.address, err)
	}
	return nil
}

// Count returns the number of elements.
func (v Value) Count() int {
	n, _, _ := elements(v.Shape, 0)
	return n
}

// Strings returns the elements of a list of strings. An empty list is accepted with any
// type, because Keras writes an empty list of names as a list of numbers.
func (v Value) Strings() ([]string, error) {
	n := v.Count()
	if n == 0 {
		return nil, nil
	}
	if v.Type.Class != Fixed && v.Type.Class != Varying {
		return nil, fmt.Errorf("hdf5: %s holds %v, want strings", v.name, v.Type)
	}
	if err := v.f.spend(16*n + v.data.size); err != nil {
		return nil, fmt.Errorf("hdf5: %s: %w", v.name, err)
	}
	all := make([]byte, v.data.size)
	if err := v.ReadInto(all); err != nil {
		return nil, err
	}
	out := make([]string, n)
	for i := range out {
		b, err := v.text(all[i*v.Type.Size : (i+1)*v.Type.Size])
		if err == nil {
			err = v.f.spend(len(b))
		}
		if err != nil {
			return nil, fmt.Errorf("hdf5: %s: string %d: %w", v.name, i, err)
		}
		out[i] = string(b)
	}
	return out, nil
}

// Text returns the single string in v.
func (v Value) Text() (string, error) {
	if n := v.Count(); n != 1 {
		return "", fmt.Errorf("hdf5: %s holds %d elements, want one string", v.name, n)
	}
	s, err := v.Strings()
	if err != nil {
		return "", err
	}
	return s[0], nil
}

// text returns the bytes of one string element.
func (v Value) text(element []byte) ([]byte, error) {
	if v.Type.Class == Fixed {
		return bytes.TrimRight(element, "\x00"), nil
	}
	// Length, address of the collection, index in it (III.E).
	length := binary.LittleEndian.Uint32(element)
	addr := binary.LittleEndian.Uint64(element[4:])
	index := binary.LittleEndian.Uint32(element[12:])
	if length == 0 {
		return nil, nil
	}
	heap, err := v.f.globalHeap(addr)
	if err != nil {
		return nil, err
	}
	b, ok := heap[int(index)]
	if !ok || uint64(length) > uint64(len(b)) {
		return nil, fmt.Errorf("object %d of the global heap at offset %d has %d bytes, want %d", index,
			addr, len(b), length)
	}
	return bytes.TrimRight(b[:length], "\x00"), nil
}

// globalHeap returns the objects of the collection at addr by index (III.E).
func (f *File) globalHeap(addr uint64) (map[int][]byte, error) {
	if heap := f.heaps[addr]; heap != nil {
		return heap, nil
	}
	c, err := f.head(addr, 16, "global heap")
	if err != nil {
		return nil, err
	}
	c.expect("GCOL", "global heap")
	c.version("global heap", 1)
	c.take(3)
	size := c.u64()
	if c.err == nil && size < 16 {
		c.fail("global heap of %d bytes, want at least 16", size)
	}
	if c.err != nil {
		return nil, c.err
	}
	if c, err = f.block(addr+16, size-16, "global heap"); err != nil {
		return nil, err
	}
	heap := map[int][]byte{}
	for len(c.b)-c.pos >= 16 {
		index := c.u16()
		c.take(6)
		n := c.u64()
		if index == 0 { // the free space at the end
			break
		}
		if n > uint64(len(c.b)) {
			c.fail("object %d of the global heap has %d bytes", index, n)
			break
		}
		heap[index] = c.aligned(int(n))
	}
	if c.err != nil {
		return nil, c.err
	}
	f.heaps[addr] = heap
	return heap, nil
}
