package tensorflow

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// A table is: data blocks, other blocks, an index block, and a footer with the places of
// the last two. A block is a list of entries with keys that share prefixes, then restart
// points, which only searching needs, then a byte for the compression and a CRC.

const (
	footerSize  = 48
	trailerSize = 5 // compression and CRC of a block
	tableMagic  = 0xdb4775248b80fb57
	// maxKeys is the number of bytes that the keys may use in addition to four times the
	// table's size: shared prefixes could make them much larger.
	maxKeys = 8 << 20
)

// castagnoli returns the table for TensorFlow's checksums, which use the polynomial of
// Castagnoli.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// unmask reverses LevelDB's masking of a CRC that is stored with the data that it covers.
func unmask(c uint32) uint32 {
	c -= 0xa282ead8
	return c<<15 | c>>17
}

// isTable reports whether the last bytes of a file are a table's footer.
func isTable(tail []byte) bool {
	return len(tail) >= 8 && binary.LittleEndian.Uint64(tail[len(tail)-8:]) == tableMagic
}

// walker reads the entries of a table.
type walker struct {
	b        []byte
	keyBytes int // bytes that keys may still use
	visit    func(key string, value []byte) error
}

// walkTable calls visit for every entry, in the order of the keys.
func walkTable(b []byte, visit func(key string, value []byte) error) error {
	if len(b) < footerSize || !isTable(b) {
		return fmt.Errorf("not an index of a TensorFlow checkpoint")
	}
	footer := cursor{b: b[len(b)-footerSize : len(b)-8]}
	footer.varint()
	footer.varint() // the place of the meta index, which is empty
	w := &walker{b: b, keyBytes: maxKeys + 4*len(b), visit: visit}
	end := uint64(0)
	return w.block("index block", footer.varint(), footer.varint(), func(_ string, value []byte) error {
		handle := cursor{b: value}
		from, size := handle.varint(), handle.varint()
		if handle.invalid || from < end {
			return fmt.Errorf("a data block at offset %d, behind one that ends at %d", from, end)
		}
		end = from + size
		return w.block("data block", from, size, visit)
	})
}

// block calls visit for the entries of the block of size bytes at offset.
func (w *walker) block(kind string, offset, size uint64, visit func(string, []byte) error) error {
	all := uint64(len(w.b))
	if offset > all || size > all-offset || all-offset-size < trailerSize {
		return fmt.Errorf("%s of %d bytes at offset %d of %d", kind, size, offset, all)
	}
	b, trailer := w.b[offset:offset+size], w.b[offset+size:]
	if trailer[0] != 0 {
		return fmt.Errorf("%s at offset %d: compressed (type %d), which is not supported", kind, offset, trailer[0])
	}
	want := unmask(binary.LittleEndian.Uint32(trailer[1:]))
	if got := crc32.Checksum(w.b[offset:offset+size+1], castagnoli()); got != want {
		return fmt.Errorf("%s at offset %d: the file is damaged: CRC is %08x, want %08x", kind, offset, got, want)
	}
	if err := w.entries(b, visit); err != nil {
		return fmt.Errorf("%s at offset %d: %w", kind, offset, err)
	}
	return nil
}

func (w *walker) entries(b []byte, visit func(string, []byte) error) error {
	if len(b) < 4 {
		return fmt.Errorf("%d bytes", len(b))
	}
	restarts := uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	if restarts > uint64(len(b)-4)/4 {
		return fmt.Errorf("%d restart points in %d bytes", restarts, len(b))
	}
	c := cursor{b: b[:len(b)-4-4*int(restarts)]}
	last := ""
	for first := true; len(c.b) > 0; first = false {
		shared, more, size := c.varint(), c.varint(), c.varint()
		if c.invalid || shared > uint64(len(last)) {
			return fmt.Errorf("an entry is damaged behind key %q", last)
		}
		if c.invalid || more > foreign.MaxName || shared+more > foreign.MaxName {
			return fmt.Errorf("a key of %d and %d bytes; at most %d are supported", shared, more, foreign.MaxName)
		}
		key := last[:shared] + string(c.take(more))
		value := c.take(size)
		if c.invalid || !first && key <= last {
			return fmt.Errorf("key %q behind %q, or truncated", key, last)
		}
		if w.keyBytes -= len(key); w.keyBytes < 0 {
			return fmt.Errorf("the keys take more memory than the table justifies")
		}
		if err := visit(key, value); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
		last = key
	}
	return nil
}

// cursor reads from the front of b; invalid is set at the first error and stays set.
type cursor struct {
	b       []byte
	invalid bool
}

func (c *cursor) varint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.invalid, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.invalid, c.b = true, nil
		return nil
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}
