package jpeg

import "context"

// zigzag is the natural index of each coefficient. Its elements are in the order that a scan has the
// coefficients (T.81, figure A.6).
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// scan is one scan of a frame.
type scan struct {
	*decoder
	bits
	scanComponents []scanComponent
	start, end     int  // range of coefficients, in the order of a scan
	high, low      uint // progressive: low bits that the scans before left, and that this scan leaves
	eobs           int  // number of next blocks that have no more coefficients in this range
}

// scanComponent is a component that a scan contains.
type scanComponent struct {
	*component
	dc, ac *huffman
}

// scan reads the header of a scan (T.81, B.2.3), and decodes the scan.
func (d *decoder) scan(body []byte) error {
	if d.components == nil {
		return invalid("a scan comes before the frame")
	}
	if len(body) < 1 || len(body) != 4+2*int(body[0]) {
		return invalid("a scan header of %d bytes", len(body))
	}
	n := int(body[0])
	last := body[1+2*n:]
	s := scan{decoder: d, bits: bits{file: d.file, next: d.next}, start: 0, end: 63}
	if d.progressive {
		s.start, s.end, s.high, s.low = int(last[0]), int(last[1]), uint(last[2]>>4), uint(last[2]&15)
		if err := s.checkBand(n); err != nil {
			return err
		}
	}
	blocks := 0
	for i := range n {
		p, err := s.newComponent(body[1+2*i], body[2+2*i])
		if err != nil {
			return err
		}
		s.scanComponents = append(s.scanComponents, p)
		blocks += p.h * p.v
	}
	if n < 1 || n > len(d.components) || n > 1 && blocks > 10 {
		return invalid("a scan of %d components with %d blocks at a time", n, blocks)
	}
	err := s.decode()
	d.next = s.bits.next
	return err
}

// checkBand checks the range of coefficients and of bits of a progressive scan (T.81, G.1.1.1).
func (s *scan) checkBand(components int) error {
	switch {
	case s.start == 0 && s.end != 0, s.start > s.end, s.end > 63, s.start > 0 && components != 1,
		s.low > 13, s.high != 0 && s.high != s.low+1:
		return invalid("a scan of coefficients %d to %d of %d components, bits %d to %d", s.start, s.end,
			components, s.high, s.low)
	}
	return nil
}

// newComponent returns a component of a scan with its tables, and allocates its memory if necessary.
func (s *scan) newComponent(id, tables byte) (scanComponent, error) {
	for i := range s.components {
		c := &s.components[i]
		if c.id != id {
			continue
		}
		for _, p := range s.scanComponents {
			if p.component == c {
				return scanComponent{}, invalid("a scan has component %d twice", id)
			}
		}
		if tables>>4 > 3 || tables&15 > 3 {
			return scanComponent{}, invalid("a scan uses Huffman tables %d and %d", tables>>4, tables&15)
		}
		p := scanComponent{c, s.huffman[classDC][tables>>4], s.huffman[classAC][tables&15]}
		if s.start == 0 && s.high == 0 && p.dc == nil || s.end > 0 && p.ac == nil {
			return scanComponent{}, invalid("a scan uses Huffman tables that the file does not have")
		}
		if !c.seen {
			if c.steps = s.quantizers[c.quantizer]; c.steps == nil {
				return scanComponent{}, invalid(
					"component %d uses quantization table %d, which the file does not have", id,
					c.quantizer)
			}
			c.seen = true
			c.plane.Stride = 8 * c.blocksWide
			c.plane.Retained = 8 * c.retained(s.ready != nil)
			c.plane.Pix = make([]byte, c.plane.Stride*c.plane.Retained)
			if s.progressive {
				c.blocks = make([]block, c.blocksWide*c.high)
			}
		}
		return p, nil
	}
	return scanComponent{}, invalid("a scan has component %d, which the frame has not", id)
}

// decode decodes all MCUs of the scan. In a scan of one component an MCU is a single block (T.81, A.2).
func (s *scan) decode() error {
	across, down := ceil(s.width, 8*s.decoder.maxH), ceil(s.height, 8*s.maxV)
	if len(s.scanComponents) == 1 {
		across, down = s.scanComponents[0].coded[0], s.scanComponents[0].coded[1]
	}
	for mcu := range across * down {
		if s.restart > 0 && mcu > 0 && mcu%s.restart == 0 {
			if err := s.restartAt(mcu/s.restart - 1); err != nil {
				return err
			}
		}
		x, y := mcu%across, mcu/across
		if x == 0 && s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		for i := range s.scanComponents {
			p := &s.scanComponents[i]
			if len(s.scanComponents) == 1 {
				if err := s.block(p, x, y); err != nil {
					return err
				}
				continue
			}
			for k := range p.h * p.v {
				if err := s.block(p, x*p.h+k%p.h, y*p.v+k/p.h); err != nil {
					return err
				}
			}
		}
		if s.over() {
			return invalid("the data of a scan ends in MCU %d of %d", mcu+1, across*down)
		}
		if x == across-1 && s.ready != nil {
			if err := s.ready(8 * s.maxV * (y + 1)); err != nil {
				return err
			}
		}
	}
	s.reset()
	return nil
}

// restartAt reads restart marker n, and continues with the data after it (T.81, F.2.1.3.1).
func (s *scan) restartAt(n int) error {
	s.decoder.next = s.bits.next
	marker, err := s.marker()
	if err != nil {
		return err
	}
	if marker != rst0+byte(n%8) {
		return invalid("restart marker %d is missing, %02x is there", n%8, marker)
	}
	s.bits = bits{file: s.file(), next: s.decoder.next}
	s.reset()
	return nil
}

func (s *scan) file() []byte { return s.decoder.file }

// reset clears the state that one block leaves for the next.
func (s *scan) reset() {
	s.eobs = 0
	for i := range s.components {
		s.components[i].dc = 0
	}
}

// block decodes what the scan has for block (x, y) of a component.
func (s *scan) block(p *scanComponent, x, y int) error {
	if !s.progressive {
		var b block
		last, err := s.sequential(p, &b)
		if err == nil {
			p.put(&b, last, x, y)
		}
		return err
	}
	b := &p.blocks[y*p.blocksWide+x]
	switch {
	case s.start == 0 && s.high == 0:
		return s.firstDC(p, b)
	case s.start == 0:
		b[0] |= s.take(1) << s.low
		return nil
	case s.high == 0:
		return s.firstAC(p, b)
	}
	return s.refineAC(p, b)
}

// badCode returns the error for bits that are not a code of the Huffman table.
func badCode() error { return invalid("bits that are no Huffman code") }

// difference decodes the DC coefficient of a block, which is stored as a difference (T.81, F.2.2.1).
func (s *scan) difference(p *scanComponent) (int32, error) {
	k, ok := s.symbol(p.dc)
	if !ok || k > 15 {
		return 0, badCode()
	}
	p.component.dc += s.signed(int(k))
	return p.component.dc, nil
}

// sequential decodes a whole block and dequantizes it. It returns the index of the last nonzero coefficient,
// in the order of the scan (T.81, F.2.2).
func (s *scan) sequential(p *scanComponent, b *block) (last int, err error) {
	dc, err := s.difference(p)
	if err != nil {
		return 0, err
	}
	b[0] = dc * p.steps[0]
	for k := 1; k < 64; k++ {
		rs, ok := s.symbol(p.ac)
		if !ok {
			return 0, badCode()
		}
		run, size := int(rs>>4), int(rs&15)
		if size == 0 {
			if run != 15 {
				break
			}
			k += 15
			continue
		}
		if k += run; k > 63 {
			break
		}
		at := zigzag[k]
		b[at] = s.signed(size) * p.steps[at]
		last = k
	}
	return last, nil
}

// firstDC decodes the upper bits of a DC coefficient (T.81, G.1.2.1).
func (s *scan) firstDC(p *scanComponent, b *block) error {
	dc, err := s.difference(p)
	b[0] = dc << s.low
	return err
}

// firstAC decodes the upper bits of the coefficients in the scan's range (T.81, G.1.2.2).
func (s *scan) firstAC(p *scanComponent, b *block) error {
	if s.eobs > 0 {
		s.eobs--
		return nil
	}
	for k := s.start; k <= s.end; k++ {
		rs, ok := s.symbol(p.ac)
		if !ok {
			return badCode()
		}
		run, size := int(rs>>4), int(rs&15)
		if size == 0 {
			if run != 15 {
				s.eobs = s.endOfBand(run) - 1
				return nil
			}
			k += 15
			continue
		}
		if k += run; k > s.end {
			return nil
		}
		b[zigzag[k]] = s.signed(size) << s.low
	}
	return nil
}

// endOfBand returns the number of blocks, including this one, that have no more coefficients in the scan's
// range.
func (s *scan) endOfBand(run int) int {
	n := 1 << run
	if run > 0 {
		n += int(s.take(run))
	}
	return n
}

// refineAC decodes one more bit of every coefficient in the scan's range (T.81, G.1.2.3). It may set
// coefficients that are still 0, and adds the bit to the others.
func (s *scan) refineAC(p *scanComponent, b *block) error {
	k := s.start
	for s.eobs == 0 && k <= s.end {
		rs, ok := s.symbol(p.ac)
		if !ok {
			return badCode()
		}
		run, begun := int(rs>>4), int32(0)
		switch size := rs & 15; {
		case size == 0 && run != 15:
			s.eobs = s.endOfBand(run)
		case size == 1 && s.take(1) == 1:
			begun = 1 << s.low
		case size == 1:
			begun = -1 << s.low
		case size > 1:
			return badCode()
		}
		if s.eobs > 0 {
			break
		}
		k = s.correct(b, k, run)
		if begun != 0 && k <= s.end {
			b[zigzag[k]] = begun
		}
		k++
	}
	if s.eobs > 0 {
		s.correct(b, k, 64)
		s.eobs--
	}
	return nil
}

// correct adds a bit to every nonzero coefficient from k on. It passes over zeros coefficients that are 0,
// stops at the next one that is 0, and returns its index.
func (s *scan) correct(b *block, k, zeros int) int {
	for ; k <= s.end; k++ {
		c := &b[zigzag[k]]
		if *c == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		if s.take(1) == 0 {
			continue
		}
		if *c > 0 {
			*c += 1 << s.low
		} else {
			*c -= 1 << s.low
		}
	}
	return k
}
