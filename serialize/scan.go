package serialize

import (
	"encoding/binary"
	"fmt"
)

// scan verifies that b is exactly one MessagePack value, not nested deeper than maxDepth, of at
// most maxValues values, and that every length fits the remaining bytes. A decoder of such a value
// cannot recurse without end, and cannot allocate more than the header needs.
func scan(b []byte) error {
	s := scanner{left: maxValues}
	rest, err := s.value(b, maxDepth)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes after the last value", len(rest))
	}
	return err
}

type scanner struct{ left int } // values that may still come

// The keys are the first bytes of MessagePack values, from 0xc4 on. lengthBytes has the size of the
// length field of values of variable length, and fixedBytes the size of the data of values of fixed
// length.
var (
	lengthBytes = map[byte]int{0xc4: 1, 0xc5: 2, 0xc6: 4, 0xc7: 1, 0xc8: 2, 0xc9: 4, 0xd9: 1, 0xda: 2, 0xdb: 4,
		0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}
	fixedBytes = map[byte]int{0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4,
		0xd3: 8, 0xd4: 2, 0xd5: 3, 0xd6: 5, 0xd7: 9, 0xd8: 17}
)

// value returns the bytes after the first value of b.
func (s *scanner) value(b []byte, depth int) ([]byte, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("ends in the middle of a value")
	}
	if s.left--; s.left < 0 {
		return nil, fmt.Errorf("more than %d values", maxValues)
	}
	first, b := b[0], b[1:]
	switch {
	case first < 0x80 || first >= 0xe0 || first == 0xc0 || first == 0xc2 || first == 0xc3:
		return b, nil
	case first < 0x90:
		return s.items(b, 2*uint64(first&0x0f), depth)
	case first < 0xa0:
		return s.items(b, uint64(first&0x0f), depth)
	case first < 0xc0:
		return skip(b, uint64(first&0x1f))
	}
	if n, ok := fixedBytes[first]; ok {
		return skip(b, uint64(n))
	}
	width, ok := lengthBytes[first]
	if !ok || len(b) < width {
		return nil, fmt.Errorf("byte %#x is no value, or its length is missing", first)
	}
	n := length(b[:width])
	b = b[width:]
	switch {
	case first >= 0xde:
		return s.items(b, 2*n, depth)
	case first >= 0xdc:
		return s.items(b, n, depth)
	case first >= 0xc7 && first <= 0xc9:
		n++ // the type of an extension
	}
	return skip(b, n)
}

func length(b []byte) uint64 {
	var full [8]byte
	copy(full[8-len(b):], b)
	return binary.BigEndian.Uint64(full[:])
}

func skip(b []byte, n uint64) ([]byte, error) {
	if n > uint64(len(b)) {
		return nil, fmt.Errorf("a value claims %d bytes, %d are left", n, len(b))
	}
	return b[n:], nil
}

// items returns the bytes after n values.
func (s *scanner) items(b []byte, n uint64, depth int) ([]byte, error) {
	if n > uint64(len(b)) {
		return nil, fmt.Errorf("a list or map claims %d values, %d bytes are left", n, len(b))
	}
	if depth == 0 {
		return nil, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	var err error
	for ; n > 0 && err == nil; n-- {
		b, err = s.value(b, depth-1)
	}
	return b, err
}
