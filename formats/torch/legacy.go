package torch

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// legacy is a stream of five pickles (magic number, protocol version, system,
// object, keys of the storages), followed by the storages in the order of
// the keys: a count of elements (u64) and the elements.
type legacy struct {
	c     *content
	big   bool
	roots map[string]*storage
}

func (c *content) openLegacy() error {
	l := &legacy{c: c, roots: map[string]*storage{}}
	r := c.pickles(io.NewSectionReader(c.src, 0, c.size), c.size, l.resolve)
	if err := l.header(r); err != nil {
		return err
	}
	var err error
	if c.root, err = r.Load(); err != nil {
		return err
	}
	keys, err := r.Load()
	if err != nil {
		return fmt.Errorf("the keys of the storages: %w", err)
	}
	list, ok := keys.(*pickle.List)
	if !ok {
		return fmt.Errorf("the keys of the storages are %s, want a list", pickle.Describe(keys))
	}
	return l.placeAll(r.Offset(), list.Items)
}

// header reads magic number, protocol version and system.
func (l *legacy) header(r *pickle.Reader) error {
	magic, err := r.Load()
	if err != nil {
		return err
	}
	want, _ := new(big.Int).SetString("1950a86a20f9469cfc6c", 16)
	if n, ok := magic.(*big.Int); !ok || n.Cmp(want) != 0 {
		return fmt.Errorf("the magic number is %s", pickle.Describe(magic))
	}
	version, err := r.Load()
	if err != nil {
		return err
	}
	if version != int64(1001) {
		return fmt.Errorf("the protocol version is %s, want 1001", pickle.Describe(version))
	}
	system, err := r.Load()
	if err != nil {
		return err
	}
	l.big = isBig(system)
	return nil
}

// isBig reads sys_info, which names the byte order of the machine that saved.
func isBig(system any) bool {
	if d, ok := system.(*pickle.Dict); ok {
		little, _ := d.Get("little_endian")
		return little == false
	}
	return false
}

// resolve returns the storage for an id, or the part of it given by the id's view (key,
// offset, numel); for ('module', class, file, source) it returns the class.
func (l *legacy) resolve(id any) (any, error) {
	if t, ok := id.(pickle.Tuple); ok && len(t) >= 2 && t[0] == "module" {
		return t[1], nil
	}
	p, err := parseID(id)
	if err != nil {
		return nil, err
	}
	root, ok := l.roots[p.key]
	if ok {
		err = p.sameAs(root)
	} else {
		root, err = newStorage(p.key, p.dtype, p.numel)
	}
	if err != nil {
		return nil, err
	}
	root.big = l.big
	l.roots[p.key] = root
	if len(p.rest) == 0 || p.rest[0] == nil {
		return root, nil
	}
	return root.window(p.rest[0])
}

// placeAll walks the storages that begin at offset off.
func (l *legacy) placeAll(off int64, keys []any) error {
	for _, k := range keys {
		key, _ := k.(string)
		s := l.roots[key]
		if s == nil || s.src != nil {
			return fmt.Errorf("offset %d: storage %q is unknown, or comes twice", off, key)
		}
		var head [8]byte
		if err := foreign.ReadAt(l.c.src, head[:], off); err != nil {
			return fmt.Errorf("offset %d: storage %q: %w", off, key, err)
		}
		if err := s.checkCount(l.number(head[:])); err != nil {
			return fmt.Errorf("offset %d: %w", off, err)
		}
		if err := s.setOffset(l.c.src, off+8, l.c.size); err != nil {
			return err
		}
		off += 8 + s.size
	}
	return nil
}

func (l *legacy) number(b []byte) uint64 {
	if l.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// checkCount compares the number of elements stored before the bytes of a storage with the
// number in its id.
func (s *storage) checkCount(count uint64) error {
	if s.dtype == 0 {
		return fmt.Errorf("%v is untyped, which this variant of the format does not know", s)
	}
	if want := uint64(s.size) / uint64(s.dtype.Size()); count != want {
		return fmt.Errorf("%v has %d elements, its tensors expect %d", s, count, want)
	}
	return nil
}
