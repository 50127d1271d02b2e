package hdf5

import "fmt"

// File is an HDF5 file held in memory. It is not safe for use by several goroutines.
type File struct {
	b       []byte
	budget  int // bytes that structures may still refer to
	root    *Object
	objects map[uint64]*Object
	heaps   map[uint64]map[int][]byte // global heap collections, by address
}

// Open reads the superblock and the root group of b, which the file keeps and
// which must not change. Errors name the offset.
func Open(b []byte) (*File, error) {
	f := &File{b: b, budget: 8*len(b) + spareBudget, objects: map[uint64]*Object{},
		heaps: map[uint64]map[int][]byte{}}
	addr, err := f.superblock()
	if err == nil {
		f.root, err = f.object(addr, "/")
	}
	if err != nil {
		return nil, fmt.Errorf("hdf5: %w", err)
	}
	return f, nil
}

// Root returns the root group.
func (f *File) Root() *Object { return f.root }

// superblock returns the address of the root group's object header (III.A).
func (f *File) superblock() (uint64, error) {
	c := &cursor{b: f.b}
	c.expect(signature, "the file")
	switch v := c.u8(); {
	case c.err != nil:
	case v == 2 || v == 3:
		c.fail("superblock of version %d, as libver=\"latest\" writes; only version 0 is supported: "+
			"load the file in Keras and save it again", v)
	case v != 0:
		c.fail("superblock of version %d; only version 0 is supported", v)
	}
	c.take(4)
	if offsets, lengths := c.u8(), c.u8(); c.err == nil && (offsets != 8 || lengths != 8) {
		c.fail("offsets of %d and lengths of %d bytes; only 8 and 8 are supported", offsets, lengths)
	}
	c.take(9) // reserved, ranks of the B-trees, flags
	if base := c.u64(); c.err == nil && base != 0 {
		c.fail("base address %d; only 0 is supported", base)
	}
	c.take(8)
	if end := c.u64(); c.err == nil && end > uint64(len(f.b)) {
		c.fail("the file says that it has %d bytes, %d are there: it is truncated", end, len(f.b))
	}
	c.take(8 + 8) // driver information, name of the root
	root := c.u64()
	return root, c.err
}

// spend takes n bytes from the budget.
func (f *File) spend(n int) error {
	if f.budget -= n; f.budget < 0 {
		return fmt.Errorf("the structures of the file refer to the same bytes over and over: "+
			"more than %d in a file of %d", 8*len(f.b)+spareBudget, len(f.b))
	}
	return nil
}

// block returns a cursor over n bytes at addr.
func (f *File) block(addr, n uint64, what string) (*cursor, error) {
	size := uint64(len(f.b))
	if addr > size || n > size-addr {
		return nil, fmt.Errorf("%s of %d bytes at offset %d lies outside the file of %d bytes", what, n,
			addr, size)
	}
	if err := f.spend(int(n)); err != nil {
		return nil, err
	}
	return &cursor{b: f.b[addr : addr+n : addr+n], base: addr}, nil
}

// head returns a cursor that begins at addr and may go on for n bytes, or to
// the end of the file.
func (f *File) head(addr, n uint64, what string) (*cursor, error) {
	if size := uint64(len(f.b)); addr <= size {
		n = min(n, size-addr)
	}
	return f.block(addr, n, what)
}
