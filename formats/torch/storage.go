package torch

import (
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/tensor"
)

// storage is a flat run of elements in a file. Tensors are views of storages.
type storage struct {
	key   string
	dtype tensor.DType // 0: untyped
	size  int64        // bytes
	src   io.ReaderAt
	base  int64    // offset of the first byte in src
	big   bool     // big endian
	root  *storage // the storage with the bytes, if this is a part of it

	crc   func(uint32) error // compares with the CRC-32 of all bytes; nil without one
	check func() error       // verifies crc once
}

// newStorage returns a storage of numel elements (bytes, if untyped).
func newStorage(key string, d tensor.DType, numel int64) (*storage, error) {
	s := &storage{key: key, dtype: d}
	size := int64(1)
	if d != 0 {
		size = int64(d.Size())
	}
	if numel < 0 || numel > (1<<62)/size {
		return nil, fmt.Errorf("storage %s has %d elements", key, numel)
	}
	s.size = numel * size
	s.check = sync.OnceValue(s.verify)
	return s, nil
}

// String names the storage in messages.
func (s *storage) String() string { return "storage " + s.key }

// setOffset sets the position of the bytes of s in a file of size bytes.
func (s *storage) setOffset(src io.ReaderAt, base, size int64) error {
	if base < 0 || base > size || s.size > size-base {
		return fmt.Errorf("storage %s: truncated: %d bytes at offset %d, the file has %d",
			s.key, s.size, base, size)
	}
	s.src, s.base = src, base
	return nil
}

// readAt reads bytes from offset on, without verifying them.
func (s *storage) readAt(dst []byte, offset int64) error {
	if s.root != nil {
		return s.root.readAt(dst, s.base+offset)
	}
	if s.src == nil {
		return fmt.Errorf("storage %s is not in the file", s.key)
	}
	return foreign.ReadAt(s.src, dst, s.base+offset)
}

// verify reads all of s and compares its CRC-32.
func (s *storage) verify() error {
	if s.crc == nil {
		return nil
	}
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(s.src, s.base, s.size)); err != nil {
		return err
	}
	return s.crc(h.Sum32())
}

// readAll fills dst with all bytes of s and verifies them.
func (s *storage) readAll(dst []byte) error {
	if err := s.readAt(dst, 0); err != nil || s.crc == nil {
		return err
	}
	return s.crc(crc32.ChecksumIEEE(dst))
}

// window returns the part of s that the view (key, offset, numel) of a
// persistent id names.
func (s *storage) window(view any) (*storage, error) {
	t, ok := view.(pickle.Tuple)
	if !ok || len(t) != 3 {
		return nil, fmt.Errorf("%v: the view is %s, want (key, offset, length)", s, pickle.Describe(view))
	}
	offset, ok1 := t[1].(int64)
	numel, ok2 := t[2].(int64)
	if !ok1 || !ok2 || s.dtype == 0 {
		return nil, fmt.Errorf("%v: a view from %s of length %s",
			s, pickle.Describe(t[1]), pickle.Describe(t[2]))
	}
	all := s.size / int64(s.dtype.Size())
	if offset < 0 || numel < 0 || offset > all || numel > all-offset {
		return nil, fmt.Errorf("%v of %d elements: a view of %d from %d", s, all, numel, offset)
	}
	w, err := newStorage(s.key, s.dtype, numel)
	if err != nil {
		return nil, err
	}
	w.root, w.base, w.big = s, offset*int64(s.dtype.Size()), s.big
	return w, nil
}
