package augmentation

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// affine maps each pixel of the result to a pixel of the source. The result's pixel (x, y) is copied from the
// source pixel that contains the point (x0 + xx*x + xy*y, y0 + yx*x + yy*y), in units of 2^-16 pixels. This
// is Pillow's transform by the nearest pixel.
type affine struct{ xx, xy, x0, yx, yy, y0 int64 }

// newAffine returns the map of points (a*x + b*y + c, d*x + e*y + f), applied to the centres of pixels, with
// rounded coefficients.
func newAffine(a, b, c, d, e, f float64) affine {
	fixed := func(v float64) int64 { return int64(math.Floor(float64(v*65536) + 0.5)) }
	return affine{fixed(a), fixed(b), fixed(c + float64(a*0.5) + float64(b*0.5)),
		fixed(d), fixed(e), fixed(f + float64(d*0.5) + float64(e*0.5))}
}

// move moves the pixels of c by an affine map.
func (c *canvas) move(m affine) {
	src := c.clone()
	for y := range c.H {
		atX, atY := m.x0+m.xy*int64(y), m.y0+m.yy*int64(y)
		row := c.Row(y)
		for x := 0; x < len(row); x += c.C {
			fromX, fromY := atX>>16, atY>>16
			atX, atY = atX+m.xx, atY+m.yx
			if fromX >= 0 && fromX < int64(c.W) && fromY >= 0 && fromY < int64(c.H) {
				from := (int(fromY)*c.W + int(fromX)) * c.C
				copy(row[x:x+c.C], src.Pix[from:from+c.C])
				continue
			}
			for k := range c.C {
				row[x+k] = c.border
			}
		}
	}
}

// rotate turns c around its middle, counterclockwise for positive degrees.
func (c *canvas) rotate(degrees float64) {
	turn := float64(-degrees*math.Pi) / 180
	cos, sin := tensor.Cos(turn), tensor.Sin(turn)
	x, y := float64(float64(c.W)/2), float64(float64(c.H)/2)
	c.move(newAffine(cos, sin, x-float64(cos*x)-float64(sin*y), -sin, cos, y+float64(sin*x)-float64(cos*y)))
}

// shearX moves row y by -factor*y pixels.
func (c *canvas) shearX(factor float64) { c.move(newAffine(1, factor, 0, 0, 1, 0)) }

// shearY moves column x by -factor*x pixels.
func (c *canvas) shearY(factor float64) { c.move(newAffine(1, 0, 0, factor, 1, 0)) }

// translate moves c to the right and down, by whole pixels.
func (c *canvas) translate(x, y int) { c.move(newAffine(1, 0, float64(-x), 0, 1, float64(-y))) }
