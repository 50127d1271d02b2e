package data

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// pose is the position of a glyph in its picture. A master is the mask of a glyph in high resolution.
// Positions in it are fixed-point numbers with 16 fractional bits, so that drawing gives the same pixels on
// every machine.
type pose struct {
	xx, xy, yx, yy int    // distance in the master, in cells, for one pixel of the picture
	x, y           int    // position in the master of the picture's corner, in cells
	back, ink      int    // grey values
	noise          uint32 // largest deviation of a grey value
}

// drawPose draws a rotation of up to 14 degrees, a height of 14 to 22 pixels,
// a shear, a shift of up to 3 pixels, grey values and noise.
func drawPose(d *tensor.Draws) pose {
	const one = 1 << 16
	angle := d.Between(-0.25, 0.25)
	cells := d.Between(4.2, 6.5) // cells of the master per pixel: a digit is about 92 cells high
	aspect := d.Between(0.85, 1.2)
	shear := d.Between(-0.2, 0.2)
	sin, cos := tensor.Sin(angle), tensor.Cos(angle)
	fixed := func(v float64) int { return int(math.Floor(float64(v*one) + 0.5)) }
	width := float64(cells * aspect)
	p := pose{
		xx: fixed(width * (cos + float64(shear*sin))), xy: fixed(width * (float64(shear*cos) - sin)),
		yx: fixed(cells * sin), yy: fixed(cells * cos),
	}
	// The middle of the picture, moved by the random shift, shows the middle of the master.
	right, down := fixed(d.Between(-3, 3)+glyphSide/2), fixed(d.Between(-3, 3)+glyphSide/2)
	const middle = masterSide / 2 * one
	p.x = middle - (p.xx*right+p.xy*down)>>16
	p.y = middle - (p.yx*right+p.yy*down)>>16
	p.back, p.ink = d.Intn(60), 140+d.Intn(116)
	p.noise = uint32(d.Intn(40))
	return p
}

// taps is the number of points of the master that are read for each pixel, along each axis.
const taps = 4

// tapBits is the number of bits of 2*taps.
const tapBits = 3

// draw draws the glyph into dst, glyphSide x glyphSide grey values, and adds
// noise.
func (g *glyphMaster) draw(dst []byte, p pose, d *tensor.Draws) {
	var covered [glyphSide]int
	for py := range glyphSide {
		clear(covered[:])
		for ty := range taps {
			g.cover(&covered, p, py*taps+ty)
		}
		for px, n := range covered {
			dst[py*glyphSide+px] = byte(p.back + (p.ink-p.back)*n/(taps*taps))
		}
	}
	addNoise(dst, p.noise, d)
}

// cover counts for each pixel how many taps of one row of taps are inside the glyph.
func (g *glyphMaster) cover(covered *[glyphSide]int, p pose, row int) {
	// A pixel consists of taps x taps squares. A tap is at the centre of each square: at odd multiples of
	// 1/(2*taps) pixel. x and y are in cells, times 65536 * 2*taps.
	x := p.x*2*taps + p.xx + p.xy*(2*row+1)
	y := p.y*2*taps + p.yx + p.yy*(2*row+1)
	for px := range covered {
		n := 0
		for range taps {
			cx, cy := uint(x>>(16+tapBits)), uint(y>>(16+tapBits))
			if cx < masterSide && cy < masterSide {
				n += int(g[cy*masterSide+cx])
			}
			x += 2 * p.xx
			y += 2 * p.yx
		}
		covered[px] += n
	}
}

// addNoise adds to every pixel a random number from -limit to limit, uniformly distributed. It uses one draw
// for every four pixels.
func addNoise(dst []byte, limit uint32, d *tensor.Draws) {
	for i := 0; i < len(dst); i += 4 {
		w := d.Uint32()
		for k := range 4 {
			deviation := int((w>>(8*k)&0xff)*(2*limit+1)>>8) - int(limit)
			dst[i+k] = byte(min(max(int(dst[i+k])+deviation, 0), 255))
		}
	}
}
