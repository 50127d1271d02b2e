// Package jpeg decodes JPEG files (ITU-T T.81: baseline, extended and progressive, Huffman coded, 8 bits) to
// planes. The samples equal the ones of libjpeg-turbo with default options.
//
// It exists because models are trained and published with pictures that libjpeg-turbo has decoded. The
// inverse transform of image/jpeg rounds one sample in 60 differently (docs/adr/picture-decoders.md). The
// tests compare this package with image/jpeg.
package jpeg

import (
	"context"
	"errors"
)

// Errors that the errors of Decode and Size wrap.
var (
	// ErrFormat means that the bytes are not a JPEG, or a damaged one.
	ErrFormat = errors.New("invalid JPEG")
	// ErrUnsupported means that this kind of JPEG is not supported.
	ErrUnsupported = errors.New("unsupported JPEG")
)

// Space is the colour space of a picture's planes.
type Space int

// The colour spaces. The planes of Adobe's CMYK are stored inverted, so that 255 means no ink, and they are
// returned in this form.
const (
	Grey Space = iota
	YCbCr
	RGB
	CMYK
	YCbCrK // CMYK where the first three channels are stored as YCbCr
)

// Picture is a decoded file.
type Picture struct {
	Width, Height int
	Space         Space
	Planes        []Plane // 1, 3 or 4 planes
}

// Plane is one component of a picture. It has H rows, Stride bytes apart, and the first W samples of each row
// are the component's; the samples after them complete the last blocks. W is the width of the picture shifted
// right by Across, rounded up, and H the height shifted right by Down. There is memory for Retained rows: row
// y is stored as row y%Retained.
type Plane struct {
	Pix              []byte
	Stride, Retained int
	W, H             int
	Across, Down     uint
}

// Decode decodes a file. If the context ends, it stops at the next row of blocks.
func Decode(ctx context.Context, file []byte) (*Picture, error) {
	d := decoder{ctx: ctx, file: file}
	if err := d.read(); err != nil {
		return nil, err
	}
	return d.picture()
}

// Size reads the size of a picture from the headers of its file.
func Size(ctx context.Context, file []byte) (height, width int, err error) {
	d := decoder{ctx: ctx, file: file, headers: true}
	if err := d.read(); err != nil {
		return 0, 0, err
	}
	return d.height, d.width, nil
}

// picture returns the decoded picture.
func (d *decoder) picture() (*Picture, error) {
	space, err := d.space()
	if err != nil {
		return nil, err
	}
	p := &Picture{Width: d.width, Height: d.height, Space: space}
	for i := range d.components {
		c := &d.components[i]
		if !c.seen {
			return nil, invalid("component %d of %d has no scan", i+1, len(d.components))
		}
		if d.progressive {
			if err := c.reconstruct(d.ctx); err != nil {
				return nil, err
			}
		}
		p.Planes = append(p.Planes, c.plane)
	}
	return p, nil
}

// space returns the colour space of the file, by the rules of libjpeg (default_decompress_parms, jdapimin.c).
func (d *decoder) space() (Space, error) {
	switch n := len(d.components); {
	case n == 1:
		return Grey, nil
	case n == 4 && (d.adobe == adobePlain || d.adobe == noAdobe): // Pillow reads both like Adobe's CMYK
		return CMYK, nil
	case n == 4:
		return YCbCrK, nil
	case d.jfif:
		return YCbCr, nil
	case d.adobe == adobePlain:
		return RGB, nil
	case d.adobe == noAdobe && d.idsAre("RGB"):
		return RGB, nil
	}
	return YCbCr, nil
}

// idsAre reports whether the letters of name are the identifiers of the components.
func (d *decoder) idsAre(name string) bool {
	for i := range d.components {
		if d.components[i].id != name[i] {
			return false
		}
	}
	return true
}
