package jpeg

// Classes of Huffman tables.
const (
	classDC = 0
	classAC = 1
)

// shortest is the number of bits up to which a code is found by a single lookup.
const shortest = 8

// huffman is a table of codes (T.81, annex C).
type huffman struct {
	// short is indexed by the next bits of a scan. If they begin with a code of at most shortest bits, the upper
	// byte of the entry is the length of the code, and the lower byte its symbol. Otherwise the entry is 0.
	short [1 << shortest]uint16
	// end and the array after it have an element for each length of codes. end is one more than the last code of
	// this length, aligned to 16 bits. The other is the difference between a code and the index of its symbol.
	end     [17]int32
	offset  [17]int32
	symbols []byte
}

// huffmanTables reads Huffman tables (T.81, B.2.4.2).
func (d *decoder) huffmanTables(body []byte) error {
	for len(body) > 0 {
		class, id := body[0]>>4, body[0]&15
		if class > 1 || id > 3 || len(body) < 17 {
			return invalid("Huffman table %d of class %d in %d bytes", id, class, len(body))
		}
		n := 0
		for _, k := range body[1:17] {
			n += int(k)
		}
		if n > 256 || len(body) < 17+n {
			return invalid("a Huffman table of %d codes in %d bytes", n, len(body)-17)
		}
		h, err := newHuffman(body[1:17], body[17:17+n])
		if err != nil {
			return err
		}
		d.huffman[class][id] = h
		body = body[17+n:]
	}
	return nil
}

// newHuffman makes a table from the number of codes of each length, 1 to 16 bits, and the symbols in the
// order of their codes (T.81, C.2).
func newHuffman(counts, symbols []byte) (*huffman, error) {
	h := &huffman{symbols: append([]byte(nil), symbols...)}
	code, first := int32(0), int32(0) // the next code, and the index of its symbol
	for i, n := range counts {
		bits := i + 1
		h.offset[bits] = first - code
		for k := range int32(n) {
			if bits <= shortest {
				entry := uint16(bits)<<8 | uint16(symbols[first+k])
				at := (code + k) << (shortest - bits)
				for j := range int32(1) << (shortest - bits) {
					if int(at+j) < len(h.short) {
						h.short[at+j] = entry
					}
				}
			}
		}
		code += int32(n)
		if code > 1<<bits {
			return nil, invalid("a Huffman table has more codes of %d bits than there are", bits)
		}
		h.end[bits] = code << (16 - bits)
		first += int32(n)
		code <<= 1
	}
	return h, nil
}
