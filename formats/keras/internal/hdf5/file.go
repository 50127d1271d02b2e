package hdf5

import (
	"fmt"
	"io"

	"github.com/bnctl/bnctl/problem"
)

// File is an HDF5 file. Its structures are read on demand, and the elements of data sets
// only by Value.ReadInto. It is not safe for use by several goroutines.
type File struct {
	src     io.ReaderAt
	size    int64
	budget  int64 // bytes of structures that may still be read
	root    *Object
	objects map[uint64]*Object
	heaps   map[uint64]map[int][]byte // global heap collections, by address
}

// Open reads the superblock and the root group of the size bytes of src, which
// the file keeps. Errors name the offset.
func Open(src io.ReaderAt, size int64) (*File, error) {
	f := &File{src: src, size: size, budget: budgetOf(size), objects: map[uint64]*Object{},
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
	c, err := f.head(0, superblockSize, "superblock")
	if err != nil {
		return 0, err
	}
	c.expect(signature, "the file")
	switch v := c.u8(); {
	case c.err != nil:
	case v == 2 || v == 3:
		c.fail("%w", problem.Advise("load the file in Keras and save it again",
			"superblock of version %d, as libver=\"latest\" writes; only version 0 is supported", v))
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
	if end := c.u64(); c.err == nil && end > uint64(f.size) {
		c.fail("the file says that it has %d bytes, %d are there: it is truncated", end, f.size)
	}
	c.take(8 + 8) // driver information, name of the root
	root := c.u64()
	return root, c.err
}

// budgetOf returns how many bytes of structures a file of size bytes may have.
func budgetOf(size int64) int64 { return min(8*size+spareBudget, size/2+mostBudget) }

// spend subtracts n bytes from the budget.
func (f *File) spend(n int) error {
	if f.budget -= int64(n); f.budget < 0 {
		return fmt.Errorf("the structures of the file refer to the same bytes over and over: "+
			"more than %d in a file of %d", budgetOf(f.size), f.size)
	}
	return nil
}

// check returns an error unless the file has n bytes at addr.
func (f *File) check(addr, n uint64, structure string) error {
	if size := uint64(f.size); addr > size || n > size-addr {
		return fmt.Errorf("%s of %d bytes at offset %d lies outside the file of %d bytes", structure, n, addr, size)
	}
	return nil
}

// block returns a cursor over n bytes at addr.
func (f *File) block(addr, n uint64, structure string) (*cursor, error) {
	if err := f.check(addr, n, structure); err != nil {
		return nil, err
	}
	if err := f.spend(int(n)); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(f.src, int64(addr), int64(n)), b); err != nil {
		return nil, fmt.Errorf("%s at offset %d: %w", structure, addr, err)
	}
	return &cursor{b: b, base: addr}, nil
}

// head returns a cursor that begins at addr and ends after n bytes or at the end of the
// file.
func (f *File) head(addr, n uint64, structure string) (*cursor, error) {
	if size := uint64(f.size); addr <= size {
		n = min(n, size-addr)
	}
	return f.block(addr, n, structure)
}
