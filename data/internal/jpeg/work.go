package jpeg

// Work returns how much work it is to decode a file, without decoding it. blocks is the number of blocks of
// 8x8 samples of the first component, and visits the number of blocks that all scans together visit. A scan
// of a progressive file may visit thousands of blocks for a few bits, and there may be any number of scans.
func Work(file []byte) (blocks, visits int) {
	of := map[byte]int{} // number of blocks, by component
	for s := range Segments(file) {
		switch s.Marker {
		case sof0, sof1, sof2:
			if len(of) == 0 {
				blocks = blocksOf(s.Body, of)
			}
		case sos:
			if len(s.Body) == 0 || len(s.Body) < 1+2*int(s.Body[0]) {
				return blocks, visits
			}
			for i := range int(s.Body[0]) {
				visits += of[s.Body[1+2*i]]
			}
		}
	}
	return blocks, visits
}

// blocksOf stores in counts the number of blocks of each component of a frame header (T.81, B.2.2). It
// returns the number of the first component.
func blocksOf(frame []byte, counts map[byte]int) (first int) {
	if len(frame) < 6 || len(frame) < 6+3*int(frame[5]) || frame[5] == 0 {
		return 0
	}
	height, width := int(frame[1])<<8+int(frame[2]), int(frame[3])<<8+int(frame[4])
	components := frame[6:][:3*int(frame[5])]
	factors := func(i int) (h, v int) {
		if len(components) == 3 {
			return 1, 1 // with one component the factors in the file have no effect (T.81, A.2.2)
		}
		return int(components[3*i+1] >> 4), int(components[3*i+1] & 15)
	}
	h0, v0 := factors(0)
	if h0 == 0 || v0 == 0 {
		return 0
	}
	units := (width + 8*h0 - 1) / (8 * h0) * ((height + 8*v0 - 1) / (8 * v0))
	for i := range len(components) / 3 {
		h, v := factors(i)
		counts[components[3*i]] = units * h * v
	}
	return units * h0 * v0
}
