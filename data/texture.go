package data

import "github.com/bnctl/bnctl/tensor"

// texture is the texture of a surface in a scene. The texture and its colours are independent of the shape,
// so that only the outline of a shape determines its class.
type texture struct {
	pattern pattern
	period  int // length of the pattern, in pixels
	dx, dy  int // direction of the stripes
	colours [2][3]byte
	seed    uint32 // seed for the colours of the patches
}

// pattern states which of the two colours of a texture each pixel has.
type pattern int

const (
	uniform pattern = iota
	stripes
	checks
	patches // each square of period pixels has a random colour
	patterns
)

// drawTexture draws a random pattern and two random colours, which may be similar.
func drawTexture(d *tensor.Draws) texture {
	t := texture{pattern: pattern(d.Intn(int(patterns))), period: 2 + d.Intn(5),
		dx: d.Intn(5) - 2, dy: 1 + d.Intn(2), seed: d.Uint32()}
	for k := range t.colours {
		for c := range 3 {
			t.colours[k][c] = byte(32 + d.Intn(224))
		}
	}
	return t
}

// colour returns the colour of the texture at a pixel of the picture.
func (t *texture) colour(x, y int) [3]byte {
	k := 0
	switch t.pattern {
	case stripes:
		k = (x*t.dx + y*t.dy + 4*shapesSide*t.period) / t.period
	case checks:
		k = x/t.period + y/t.period
	case patches:
		k = int(scatter(t.seed+uint32(x/t.period)*0x9E3779B1+uint32(y/t.period)*0x85EBCA77) >> 31)
	}
	return t.colours[k%2]
}

// scatter mixes the bits of a word, as the last step of MurmurHash3 does (Appleby 2008).
func scatter(w uint32) uint32 {
	w = (w ^ w>>16) * 0x85EBCA6B
	w = (w ^ w>>13) * 0xC2B2AE35
	return w ^ w>>16
}
