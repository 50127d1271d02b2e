package objects

import "math"

// Box is a half-open box in pixels: X1 <= x < X2 and Y1 <= y < Y2. The origin is the upper
// left corner of the picture.
type Box struct{ X1, Y1, X2, Y2 float64 }

// Width returns X2 - X1; 0 for an empty box.
func (b Box) Width() float64 { return max(0, b.X2-b.X1) }

// Height returns Y2 - Y1; 0 for an empty box.
func (b Box) Height() float64 { return max(0, b.Y2-b.Y1) }

// Area returns the area in square pixels.
func (b Box) Area() float64 { return b.Width() * b.Height() }

// Intersect returns the area that b and o have in common.
func (b Box) Intersect(o Box) float64 {
	return Box{max(b.X1, o.X1), max(b.Y1, o.Y1), min(b.X2, o.X2), min(b.Y2, o.Y2)}.Area()
}

// IsFinite reports whether all coordinates are finite numbers.
func (b Box) IsFinite() bool {
	for _, v := range []float64{b.X1, b.Y1, b.X2, b.Y2} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Clip returns the range of b inside a picture.
func (b Box) Clip(width, height int) Box {
	w, h := float64(width), float64(height)
	return Box{min(max(b.X1, 0), w), min(max(b.Y1, 0), h), min(max(b.X2, 0), w), min(max(b.Y2, 0), h)}
}

// outsideBy is how many pixels rounding may move a box out of its picture. Fractions with six
// decimals may be wrong by 0.01 pixels in a picture of 10,000 pixels.
const outsideBy = 0.01

// exceeds reports whether b extends beyond the border of a picture.
func (b Box) exceeds(width, height int) bool {
	c := b.Clip(width, height)
	return max(c.X1-b.X1, c.Y1-b.Y1, b.X2-c.X2, b.Y2-c.Y2) > outsideBy
}

// isNormalised reports whether corners that should be in pixels seem to be fractions of the picture's sides:
// all are from 0 to 1, and at least one is not a whole number.
func isNormalised(corners ...float64) bool {
	fraction := false
	for _, v := range corners {
		if v < 0 || v > 1 {
			return false
		}
		fraction = fraction || v != math.Trunc(v)
	}
	return fraction
}

// turn converts a box from the stored picture, width x height pixels with an EXIF orientation, to the upright
// picture. It moves the corners as images.Decode moves the pixels.
func (b Box) turn(orientation, width, height int) Box {
	w, h := float64(width), float64(height)
	if orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8 { // right to left
		b.X1, b.X2 = w-b.X2, w-b.X1
	}
	if orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7 { // bottom to top
		b.Y1, b.Y2 = h-b.Y2, h-b.Y1
	}
	if orientation > 4 {
		return Box{b.Y1, b.X1, b.Y2, b.X2}
	}
	return b
}

// Scale returns the box with all coordinates multiplied by f.
func (b Box) Scale(f float64) Box { return Box{b.X1 * f, b.Y1 * f, b.X2 * f, b.Y2 * f} }
