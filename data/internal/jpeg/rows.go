package jpeg

import "context"

// Rows decodes a file. It calls ready each time that more rows are known. p then has rows 0 to known-1 of the
// picture. If a single sequential scan contains the whole picture, the planes keep only the newest rows, two
// rows of MCUs, so that a picture of any height needs little memory. Plane.Row returns one of these rows.
func Rows(ctx context.Context, file []byte, ready func(p *Picture, known int) error) error {
	d := decoder{ctx: ctx, file: file, adobe: noAdobe}
	if !streams(file) {
		if err := d.read(); err != nil {
			return err
		}
		p, err := d.picture()
		if err != nil {
			return err
		}
		return ready(p, p.Height)
	}
	var p *Picture
	d.ready = func(known int) (err error) {
		if p == nil { // later segments cannot change the picture
			if p, err = d.picture(); err != nil {
				return err
			}
		}
		return ready(p, min(known, p.Height))
	}
	return d.read()
}

// Memory returns the number of bytes that Rows needs for a file, according to its headers.
func Memory(ctx context.Context, file []byte) (int64, error) {
	d := decoder{ctx: ctx, file: file, headers: true}
	if err := d.read(); err != nil {
		return 0, err
	}
	const tables = 64 << 10
	n, keep := int64(tables), streams(file)
	for i := range d.components {
		c := &d.components[i]
		n += 64 * int64(c.blocksWide) * int64(c.retained(keep))
		if d.progressive {
			n += 256 * int64(c.blocksWide) * int64(c.high) // coefficients
		}
	}
	return n, nil
}

// streams reports whether a single sequential scan contains all components of a file, and no later segment
// can change their colour space. Then the file can be decoded row by row.
func streams(file []byte) bool {
	components, scans := 0, 0
	for s := range Segments(file) {
		switch s.Marker {
		case sof0, sof1:
			if len(s.Body) < 6 || components > 0 || scans > 0 {
				return false
			}
			components = int(s.Body[5])
		case sos:
			if scans++; len(s.Body) == 0 || int(s.Body[0]) != components {
				return false
			}
		case app0, app14, sof2:
			if scans > 0 || s.Marker == sof2 {
				return false
			}
		}
	}
	return scans == 1 && components > 0
}

// retained returns the number of rows of blocks that a component's plane has memory for.
func (c *component) retained(newest bool) int {
	if newest {
		return min(c.high, 2*c.v)
	}
	return c.high
}

// Row returns row y of a plane, W samples.
func (p *Plane) Row(y int) []byte { return p.Pix[y%p.Retained*p.Stride:][:p.W] }
