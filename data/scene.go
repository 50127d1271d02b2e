package data

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// scene is a background with surfaces on it, the last one on top. A single light falls on all of them. A
// pixel shows only the surface that its mask names: pixels are never mixed.
type scene struct {
	surfaces []surface // the first is the background
	light    [3]int    // factors by which the light multiplies the channels, in 1/256
	noise    uint32    // largest deviation of a value
}

// surface is a shape with a texture. Positions are in half pixels, so that the centre of a pixel has integer
// coordinates.
type surface struct {
	class    int32
	x, y     int // position of the shape's centre
	radius   int // radius of the circle around the shape
	sin, cos int // sine and cosine of its rotation, in fixed point
	texture  texture
}

// sceneOne is 1 in the fixed-point numbers of scenes.
const sceneOne = 1 << 14

// drawScene draws the random properties of a scene. It has 4 to 8 shapes with a radius of 8 to 20 pixels,
// rotated at random. The light reduces each channel to a third at most, so that scenes differ in brightness
// and colour as photographs do.
func drawScene(d *tensor.Draws) scene {
	s := scene{surfaces: []surface{{texture: drawTexture(d)}}}
	for range 4 + d.Intn(5) {
		angle := d.Between(0, 2*math.Pi)
		s.surfaces = append(s.surfaces, surface{
			class: int32(1 + d.Intn(len(shapeClasses)-1)),
			x:     d.Intn(2*shapesSide + 1), y: d.Intn(2*shapesSide + 1), radius: 16 + d.Intn(25),
			sin: int(math.Floor(sceneOne * tensor.Sin(angle))), cos: int(math.Floor(sceneOne * tensor.Cos(angle))),
			texture: drawTexture(d)})
	}
	bright := 86 + d.Intn(171)
	for c := range s.light {
		s.light[c] = bright * (192 + d.Intn(65)) / 256
	}
	s.noise = uint32(8 + d.Intn(25))
	return s
}

// top returns the surface that is visible at pixel (px, py).
func (s *scene) top(px, py int) *surface {
	for k := len(s.surfaces) - 1; k > 0; k-- {
		if f := &s.surfaces[k]; f.covers(2*px+1-f.x, 2*py+1-f.y) {
			return f
		}
	}
	return &s.surfaces[0]
}

// covers reports whether the shape covers the point that is at (dx, dy) from its centre.
func (f *surface) covers(dx, dy int) bool {
	square := dx*dx + dy*dy
	if square > f.radius*f.radius {
		return false
	}
	u, v := (f.cos*dx+f.sin*dy)/sceneOne, (f.cos*dy-f.sin*dx)/sceneOne
	r := f.radius
	switch shapeClasses[f.class] {
	case "disc":
		return 100*square <= 64*r*r // a disc with about the area of the square
	case "square":
		return 10*max(abs(u), abs(v)) <= 7*r
	case "triangle": // a triangle: each side is at half the radius from the centre
		return 2*v <= r && 1732*u-1000*v <= 1000*r && -1732*u-1000*v <= 1000*r
	case "ring":
		return 100*square >= 30*r*r && 100*square <= 90*r*r
	default: // a cross
		return 10*min(abs(u), abs(v)) <= 3*r
	}
}

func abs(v int) int { return max(v, -v) }

// paint paints the scene into dst, in RGB, and adds noise.
func (s *scene) paint(dst []byte, d *tensor.Draws) {
	for py := range shapesSide {
		for px := range shapesSide {
			colour := s.top(px, py).texture.colour(px, py)
			for c, v := range colour {
				dst[3*(py*shapesSide+px)+c] = byte(int(v) * s.light[c] / 256)
			}
		}
	}
	addNoise(dst, s.noise, d)
}
