package jpeg

import "encoding/binary"

// bits reads the bits of a scan, up to the next marker. After the marker it returns zeros, which are not part
// of the scan.
type bits struct {
	file    []byte
	next    int    // index in the file of the next byte to load into acc
	acc     uint64 // the next n bits of the scan, from the highest bit on
	n       int
	padding int // number of zero bits in acc after the end of the scan
}

// hasFF reports whether one of four bytes is ff. A byte ff may be the start of a marker.
func hasFF(four uint32) bool {
	none := ^four // a byte ff becomes 0 in none
	return (none-0x01010101)&^none&0x80808080 != 0
}

// fill loads acc with at least 49 bits.
func (b *bits) fill() {
	if b.n <= 32 && b.next+4 <= len(b.file) {
		four := binary.BigEndian.Uint32(b.file[b.next:])
		if !hasFF(four) {
			b.acc |= uint64(four) << (32 - b.n)
			b.n += 32
			b.next += 4
		}
	}
	for b.n <= 48 {
		var next byte
		switch {
		case b.next >= len(b.file):
			b.padding += 8
		case b.file[b.next] != 0xff:
			next = b.file[b.next]
			b.next++
		case b.next+1 < len(b.file) && b.file[b.next+1] == 0: // a byte ff that belongs to the scan
			next = 0xff
			b.next += 2
		default: // a marker
			b.padding += 8
		}
		b.acc |= uint64(next) << (56 - b.n)
		b.n += 8
	}
}

// over reports whether more bits were taken than the scan has.
func (b *bits) over() bool { return b.n < b.padding }

// take returns the next k bits, at most 16, and consumes them.
func (b *bits) take(k int) int32 {
	if b.n < k {
		b.fill()
	}
	v := int32(b.acc >> (64 - k))
	b.drop(k)
	return v
}

func (b *bits) drop(k int) {
	b.acc <<= k
	b.n -= k
}

// symbol reads the next code and returns its symbol in the table h. ok is false if the table does not have
// the code.
func (b *bits) symbol(h *huffman) (s byte, ok bool) {
	if b.n < 16 {
		b.fill()
	}
	if e := h.short[b.acc>>(64-shortest)]; e != 0 {
		b.drop(int(e >> 8))
		return byte(e), true
	}
	next := int32(b.acc >> 48)
	for k := shortest + 1; k <= 16; k++ {
		if next < h.end[k] {
			at := next>>(16-k) + h.offset[k]
			if uint(at) >= uint(len(h.symbols)) {
				return 0, false
			}
			b.drop(k)
			return h.symbols[at], true
		}
	}
	return 0, false
}

// signed reads a signed number of k bits (T.81, F.2.2.1, EXTEND).
func (b *bits) signed(k int) int32 {
	if k == 0 {
		return 0
	}
	v := b.take(k)
	if v < 1<<(k-1) {
		v += -1<<k + 1
	}
	return v
}
