package jpeg

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// Markers of a JPEG (T.81, table B.1).
const (
	sof0  = 0xc0 // start of a baseline frame
	sof1  = 0xc1 // start of an extended sequential frame
	sof2  = 0xc2 // start of a progressive frame
	dht   = 0xc4 // Huffman tables
	jpg   = 0xc8
	dac   = 0xcc // arithmetic coding conditions
	rst0  = 0xd0 // restart, 0 to 7
	rst7  = 0xd7
	soi   = 0xd8 // start of image
	eoi   = 0xd9 // end of image
	sos   = 0xda // start of scan
	dqt   = 0xdb // quantization tables
	dri   = 0xdd // restart interval
	app0  = 0xe0 // JFIF
	app14 = 0xee // Adobe
)

// Values of the colour transform in Adobe's segment. noAdobe means that the file does not have this segment.
const (
	noAdobe    = -1
	adobePlain = 0 // RGB or CMYK
)

// decoder is the state of decoding a file.
type decoder struct {
	ctx     context.Context
	file    []byte
	next    int  // index in the file of the next byte
	headers bool // stop as soon as the size is known
	// ready is called after each row of MCUs (blocks of all components that belong together), with the number of
	// finished rows of the picture. If it is nil, all rows are kept.
	ready func(known int) error

	width, height int
	progressive   bool
	components    []component
	maxH, maxV    int // largest number of blocks that a component has in an MCU

	quantizers [4]*[64]int32 // quantization tables in natural order
	huffman    [2][4]*huffman
	restart    int // number of MCUs between restart markers; 0: there are no markers
	jfif       bool
	adobe      int
}

// component is one of the colour components of a frame.
type component struct {
	id               byte
	h, v             int // sampling factors: the number of blocks in an MCU, across and down
	quantizer        byte
	plane            Plane
	blocksWide, high int    // size of the plane in blocks, up to a whole number of MCUs
	coded            [2]int // blocks across and down in a scan of only this component
	seen             bool   // at least one scan contained it
	dc               int32  // DC coefficient of the block before, in the present scan
	steps            *[64]int32
	blocks           []block // coefficients decoded so far, if the frame is progressive
}

// read reads the file, segment by segment, up to the end of the image.
func (d *decoder) read() error {
	d.adobe = noAdobe
	if len(d.file) < 2 || d.file[0] != 0xff || d.file[1] != soi {
		return invalid("it does not begin with ff d8")
	}
	d.next = 2
	for {
		if d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
		marker, err := d.marker()
		if err != nil && d.complete() {
			return nil // only the end marker is missing
		}
		if err != nil {
			return err
		}
		if marker == eoi {
			if d.components == nil {
				return invalid("it ends without a frame")
			}
			return nil
		}
		if rst0 <= marker && marker <= rst7 {
			continue // a restart marker that a scan has left; it has no length
		}
		body, err := d.segment()
		if err != nil {
			return err
		}
		if err := d.understand(marker, body); err != nil {
			return err
		}
		if d.headers && d.components != nil {
			return nil
		}
	}
}

// complete reports whether every sample is known, so that the rest of the file cannot add anything.
func (d *decoder) complete() bool {
	return d.components != nil && !d.progressive &&
		!slices.ContainsFunc(d.components, func(c component) bool { return !c.seen })
}

// marker moves to the next marker and returns it. It skips other bytes before it.
func (d *decoder) marker() (byte, error) {
	for ; d.next+1 < len(d.file); d.next++ {
		if d.file[d.next] == 0xff && d.file[d.next+1] != 0xff && d.file[d.next+1] != 0 {
			d.next += 2
			return d.file[d.next-1], nil
		}
	}
	return 0, invalid("it ends after %d bytes, without an end of the image", len(d.file))
}

// segment returns the body of the segment that begins at the current byte.
func (d *decoder) segment() ([]byte, error) {
	rest := d.file[d.next:]
	if len(rest) < 2 {
		return nil, invalid("it ends within a segment")
	}
	n := int(binary.BigEndian.Uint16(rest))
	if n < 2 || n > len(rest) {
		return nil, invalid("a segment at byte %d has %d bytes, %d are left", d.next, n, len(rest))
	}
	d.next += n
	return rest[2:n], nil
}

// understand processes one segment. If it is the header of a scan, understand also decodes the scan.
func (d *decoder) understand(marker byte, body []byte) error {
	switch {
	case marker == sof0, marker == sof1, marker == sof2:
		d.progressive = marker == sof2
		return d.frame(body)
	case marker == dht:
		return d.huffmanTables(body)
	case marker == dqt:
		return d.quantization(body)
	case marker == dri:
		if len(body) < 2 {
			return invalid("a restart interval of %d bytes", len(body))
		}
		d.restart = int(binary.BigEndian.Uint16(body))
	case marker == sos:
		return d.scan(body)
	case marker == app0:
		d.jfif = d.jfif || len(body) >= 5 && string(body[:5]) == "JFIF\x00"
	case marker == app14:
		if len(body) >= 12 && string(body[:5]) == "Adobe" {
			d.adobe = int(body[11])
		}
	case sof0 < marker && marker <= 0xcf && marker != jpg && marker != dac:
		return unsupported("frame of type %d; baseline and progressive are read", marker-sof0)
	case marker == dac:
		return unsupported("arithmetic coding")
	}
	return nil
}

// quantization reads quantization tables (T.81, B.2.4.1).
func (d *decoder) quantization(body []byte) error {
	for len(body) > 0 {
		precision, id := body[0]>>4, body[0]&15
		size := 64 << min(precision, 1)
		if precision > 1 || id > 3 || len(body) < 1+size {
			return invalid("quantization table %d of %d bits in %d bytes", id, 8<<precision, len(body)-1)
		}
		var t [64]int32
		for i, at := range zigzag {
			if precision == 1 {
				t[at] = int32(binary.BigEndian.Uint16(body[1+2*i:]))
			} else {
				t[at] = int32(body[1+i])
			}
		}
		d.quantizers[id] = &t
		body = body[1+size:]
	}
	return nil
}

// frame reads the header of the frame (T.81, B.2.2), and computes the sizes of its planes.
func (d *decoder) frame(body []byte) error {
	if d.components != nil {
		return invalid("it has two frames")
	}
	if len(body) < 6 || len(body) != 6+3*int(body[5]) {
		return invalid("a frame header of %d bytes", len(body))
	}
	if body[0] != 8 {
		return unsupported("%d bits a sample; 8 are read", body[0])
	}
	d.height, d.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	if d.width == 0 || d.height == 0 {
		return unsupported("a picture of %d by %d", d.width, d.height)
	}
	n := int(body[5])
	if n != 1 && n != 3 && n != 4 {
		return unsupported("%d components; 1, 3 and 4 are read", n)
	}
	for i := range n {
		b := body[6+3*i:]
		c := component{id: b[0], h: int(b[1] >> 4), v: int(b[1] & 15), quantizer: b[2]}
		if n == 1 {
			c.h, c.v = 1, 1 // with one component the sampling factors have no effect (T.81, A.2.2)
		}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.quantizer > 3 {
			return invalid("component %d: sampling %d by %d, quantization table %d", i+1, c.h, c.v, c.quantizer)
		}
		for _, other := range d.components {
			if other.id == c.id {
				return invalid("two components are called %d", c.id)
			}
		}
		d.maxH, d.maxV = max(d.maxH, c.h), max(d.maxV, c.v)
		d.components = append(d.components, c)
	}
	return d.layOut()
}

// layOut computes the sizes of all planes. Their memory is allocated in the first scan.
func (d *decoder) layOut() error {
	for i := range d.components {
		c := &d.components[i]
		p := &c.plane
		for c.h<<p.Across < d.maxH {
			p.Across++
		}
		for c.v<<p.Down < d.maxV {
			p.Down++
		}
		if c.h<<p.Across != d.maxH || c.v<<p.Down != d.maxV {
			return unsupported("component %d has %d by %d samples of %d by %d; halves and quarters are read", i+1,
				c.h, c.v, d.maxH, d.maxV)
		}
		p.W, p.H = ceil(d.width, 1<<p.Across), ceil(d.height, 1<<p.Down)
		c.coded = [2]int{ceil(p.W, 8), ceil(p.H, 8)}
		c.blocksWide, c.high = c.h*ceil(d.width, 8*d.maxH), c.v*ceil(d.height, 8*d.maxV)
	}
	return nil
}

// ceil returns a/b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }
