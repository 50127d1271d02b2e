package onnx

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
)

// resampling describes how one axis of pixels is resampled. It computes in f32 as ONNX Runtime does, so
// that both choose the same neighbour half-way between two pixels.
type resampling struct {
	length, newLength int     // lengths of the axis
	scale             float32 // the file's scale, or newLength/length; newLength may differ from length*scale

	mode, coordinates, rounding string // nearest, linear or cubic; the coordinates of pixels; how nearest rounds
	cubic                       float32
	excludes                    bool // ignores weights outside the image instead of adding them to the edge
	antialias                   bool
	begin, end                  float32 // the part of the axis that is resized, if coordinates is cropping
}

// cropping is the mode of coordinates that resizes a part of an axis.
const cropping = "tf_crop_and_resize"

// coordinateTransforms convert the index of a result pixel to the coordinate of its
// centre in the operand.
var coordinateTransforms = map[string]func(r *resampling, i float32) float32{
	"asymmetric": func(r *resampling, i float32) float32 { return i / r.scale },
	"half_pixel": func(r *resampling, i float32) float32 { return float32((i+0.5)/r.scale) - 0.5 },
	"half_pixel_symmetric": func(r *resampling, i float32) float32 {
		adjustment := float32(r.newLength) / float32(r.scale*float32(r.length))
		offset := float32(float32(r.length) / 2 * float32(1-adjustment))
		return offset + float32(float32((i+0.5)/r.scale)-0.5)
	},
	"pytorch_half_pixel": func(r *resampling, i float32) float32 {
		if r.newLength == 1 {
			return 0
		}
		return float32((i+0.5)/r.scale) - 0.5
	},
	"tf_half_pixel_for_nn": func(r *resampling, i float32) float32 { return (i + 0.5) / r.scale },
	cropping: func(r *resampling, i float32) float32 {
		last := float32(r.length - 1)
		if r.newLength == 1 {
			return 0.5 * float32(r.begin+r.end) * last
		}
		return float32(r.begin*last) + float32(i*float32(r.end-r.begin)*last/float32(r.newLength-1))
	},
	"align_corners": func(r *resampling, i float32) float32 {
		if r.newLength == 1 {
			return 0
		}
		return i * float32(r.length-1) / float32(r.newLength-1)
	},
}

// tie is the tolerance for a coordinate in the middle between two pixels, as in ONNX Runtime: because
// coordinates are rounded, an exact tie may miss the middle.
const tie = 1e-6

// roundings has the functions that choose a pixel in mode nearest, by name. Up to operator set 10 there
// was only "simple": it rounds down if the image grows, and up if it shrinks.
var roundings = map[string]func(x float64, shrinks bool) float64{
	"round_prefer_floor": func(x float64, _ bool) float64 { return math.Ceil(x - 0.5 - tie) },
	"round_prefer_ceil":  func(x float64, _ bool) float64 { return math.Floor(x + 0.5 + tie) },
	"floor":              func(x float64, _ bool) float64 { return math.Floor(x) },
	"ceil":               func(x float64, _ bool) float64 { return math.Ceil(x) },
	"simple": func(x float64, shrinks bool) float64 {
		if shrinks {
			return math.Ceil(x)
		}
		return math.Trunc(x)
	},
}

// check refuses unknown modes by name.
func (r *resampling) check() error {
	switch {
	case coordinateTransforms[r.coordinates] == nil:
		return fmt.Errorf("coordinate_transformation_mode is %.40q, which is not supported", r.coordinates)
	case r.mode != "nearest" && r.mode != "linear" && r.mode != "cubic":
		return fmt.Errorf("mode is %.40q, which is not supported", r.mode)
	case roundings[r.rounding] == nil:
		return fmt.Errorf("nearest_mode is %.40q, which is not supported", r.rounding)
	case r.antialias && r.mode == "nearest":
		return fmt.Errorf("antialias of mode nearest is not supported")
	}
	return nil
}

// coordinate returns the coordinate in the operand of the centre of result pixel i.
func (r *resampling) coordinate(i int) float32 {
	if r.scale == 1 && r.coordinates != cropping {
		return float32(i)
	}
	return coordinateTransforms[r.coordinates](r, float32(i))
}

// isIdentity reports whether the result equals the operand. The centre of every result
// pixel is then the centre of the same pixel of the operand, where all other pixels have a
// weight of 0.
func (r *resampling) isIdentity() bool {
	return r.check() == nil && r.length == r.newLength && r.scale == 1 && r.coordinates != cropping
}

// isInside reports whether the centre of result pixel i is inside the operand.
func (r *resampling) isInside(i int) bool {
	x := r.coordinate(i)
	return r.coordinates != cropping || x >= 0 && x <= float32(r.length-1)
}

// pixel returns the operand's pixel that result pixel i copies in mode nearest.
func (r *resampling) pixel(i int) int {
	x := roundings[r.rounding](float64(r.coordinate(i)), r.scale < 1)
	return int(min(max(x, 0), float64(r.length-1)))
}

// pixels returns the operand's pixel for each pixel of the result.
func (r *resampling) pixels() []int {
	at := element.Indices(r.newLength)
	for i := range at {
		at[i] = r.pixel(i)
	}
	return at
}

// weights returns the matrix [to, from] that computes the result from the operand.
func (r *resampling) weights() []float32 {
	m := make([]float32, r.newLength*r.length)
	for i := range r.newLength {
		row := m[i*r.length:][:r.length]
		switch {
		case !r.isInside(i):
		case r.mode == "nearest":
			row[r.pixel(i)] = 1
		case r.antialias:
			r.filtered(row, i)
		case r.mode == "linear":
			x := min(max(float64(r.coordinate(i)), 0), float64(r.length-1))
			low := int(x)
			row[low] = float32(1 - (x - float64(low)))
			row[min(low+1, r.length-1)] += float32(x - float64(low))
		default:
			x := float64(r.coordinate(i))
			low := int(math.Floor(x))
			r.setWeights(row, low-1, low+2, func(k int) float64 { return r.cubicAt(math.Abs(float64(k) - x)) })
		}
	}
	return m
}

// filtered fills a row of weights with the filter of the mode, stretched to the size of a result pixel.
func (r *resampling) filtered(row []float32, i int) {
	width, radius, filter := max(1, 1/float64(r.scale)), 1.0, func(d float64) float64 { return max(0, 1-d) }
	if r.mode == "cubic" {
		radius, filter = 2, r.cubicAt
	}
	x := float64(r.coordinate(i))
	first, last := int(math.Floor(x-float64(radius*width)+1)), int(math.Floor(x+float64(radius*width)+1))-1
	r.setWeights(row, first, last, func(k int) float64 { return filter(math.Abs(float64(k)-x) / width) })
}

// setWeights sets the weights of the pixels first to last, and scales them to a sum of 1. Weights of
// pixels outside the image are added to the edge, or are ignored.
func (r *resampling) setWeights(row []float32, first, last int, weight func(k int) float64) {
	sums, total := make([]float64, len(row)), 0.0
	for k := first; k <= last; k++ {
		if inside := min(max(k, 0), len(row)-1); inside == k || !r.excludes {
			w := weight(k)
			sums[inside] += w
			total += w
		}
	}
	for k, w := range sums {
		row[k] = float32(w / total)
	}
}

// cubicAt returns the value of Keys' kernel at a distance.
func (r *resampling) cubicAt(d float64) float64 {
	a := float64(r.cubic)
	switch {
	case d <= 1:
		return float64(float64(float64((a+2)*d)-(a+3))*d*d) + 1
	case d < 2:
		return float64(float64(float64(float64(float64(a*d)-float64(5*a))*d)+float64(8*a))*d) - float64(4*a)
	}
	return 0
}
