package images

import (
	"fmt"
	"math"
	"sync"
)

// Filter is the kernel that weights pixels when a picture is scaled.
type Filter string

// The filters.
const (
	Bilinear Filter = ""        // a triangle, one pixel to each side
	Bicubic  Filter = "bicubic" // Keys 1981 with a = -1/2, two pixels to each side
)

// ParseFilter returns the filter with this name; "bilinear" is Bilinear.
func ParseFilter(name string) (Filter, error) {
	switch name {
	case "bilinear":
		return Bilinear, nil
	case string(Bicubic):
		return Bicubic, nil
	}
	return "", fmt.Errorf("unknown filter %q; there are bilinear and bicubic", name)
}

// Resample scales the part crop of src to w x h pixels, and writes the given window of the result to dst.
// dst has the size of the window and the channels of src.
//
// The result equals Pillow's resize, and torchvision's for pictures, with antialias: the filter spans the
// larger of a source pixel and a result pixel. The filter is applied first along rows and then along
// columns, in fixed point with 22 fractional bits.
func Resample(f Filter, dst Plane, src Plane, crop Box, w, h int, window Box) {
	across := f.curves(crop.X, crop.W, w, window.X, window.W)
	down := f.curves(crop.Y, crop.H, h, window.Y, window.H)
	first, rows := reach(down)
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	if need := rows * window.W * src.C; cap(*buf) < need {
		*buf = make([]byte, need)
	}
	middle := Plane{rows, window.W, src.C, (*buf)[:rows*window.W*src.C]}
	for y := range rows {
		resampleRow(middle.Row(y), src.Row(first+y), src.C, across)
	}
	resampleDown(dst, middle, first, down)
}

// reach returns the first row that the second pass, along columns, reads, and the number of rows.
func reach(columns []curve) (first, rows int) {
	first = columns[0].start
	last := columns[len(columns)-1]
	return first, last.start + len(last.weights) - first
}

// resampleDown is the second pass, along columns. The first row of middle is row number first of the picture.
func resampleDown(dst, middle Plane, first int, filters []curve) {
	sums := make([]int32, middle.W*middle.C)
	for y, t := range filters {
		resampleColumns(dst.Row(y), sums, middle, t.start-first, t.weights)
	}
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// fraction is the number of fractional bits of a weight.
const fraction = 22

// curve is the filter for one pixel of the result: the first source pixel that it uses, and the weights of
// the source pixels from there on, in fixed point.
type curve struct {
	start   int
	weights []int32
}

// curves returns the filters for the pixels [first, first+count) of the result along an axis. length source
// pixels, from begin on, are scaled to size pixels.
func (f Filter) curves(begin, length, size, first, count int) []curve {
	scale := float64(length) / float64(size)
	pixel := max(scale, 1) // the larger of a source pixel and a result pixel, in source pixels
	support := float64(pixel * f.support())
	all := make([]curve, count)
	for i := range all {
		center := float64((float64(first+i) + 0.5) * scale)
		low := max(int(center-support+0.5), 0)
		high := min(int(center+support+0.5), length)
		weights, sum := make([]float64, high-low), 0.0
		for k := range weights {
			weights[k] = f.weight(math.Abs(float64((float64(low+k) - center + 0.5) * (1 / pixel))))
			sum += weights[k]
		}
		all[i] = curve{begin + low, make([]int32, len(weights))}
		for k, v := range weights {
			all[i].weights[k] = int32(float64(v/sum*(1<<fraction)) + math.Copysign(0.5, v))
		}
	}
	return all
}

// support returns the number of pixels that the filter covers on each side.
func (f Filter) support() float64 {
	if f == Bicubic {
		return 2
	}
	return 1
}

// weight returns the weight at a distance in pixels. Without the conversions the compiler might fuse products
// and sums, which would change the rounding.
func (f Filter) weight(x float64) float64 {
	const a = -0.5
	switch {
	case f == Bilinear:
		return max(1-x, 0)
	case x < 1:
		return float64(float64(float64(float64((a+2)*x)-(a+3))*x)*x) + 1
	case x < 2:
		return float64(float64(float64(float64(float64(x-5)*x)+8)*x)-4) * a
	}
	return 0
}

// resampleRow filters one row of pixels with c channels.
func resampleRow(dst, src []byte, c int, filters []curve) {
	if c == 3 {
		resampleRowRGB(dst, src, filters)
		return
	}
	for x, t := range filters {
		for channel := range c {
			sum := int32(1) << (fraction - 1)
			at := t.start*c + channel
			for _, weight := range t.weights {
				sum += weight * int32(src[at])
				at += c
			}
			dst[x*c+channel] = rounded(sum)
		}
	}
}

// resampleRowRGB does the same as resampleRow for three channels at once.
func resampleRowRGB(dst, src []byte, filters []curve) {
	for x, t := range filters {
		r := int32(1) << (fraction - 1)
		g, b := r, r
		pixels := src[3*t.start : 3*(t.start+len(t.weights))]
		for _, weight := range t.weights {
			r += weight * int32(pixels[0])
			g += weight * int32(pixels[1])
			b += weight * int32(pixels[2])
			pixels = pixels[3:]
		}
		dst[3*x], dst[3*x+1], dst[3*x+2] = rounded(r), rounded(g), rounded(b)
	}
}

// resampleColumns filters the rows of src from start on into one row of the result. sums is memory for
// intermediate results, one number for each byte of the row.
func resampleColumns(dst []byte, sums []int32, src Plane, start int, weights []int32) {
	for x := range sums {
		sums[x] = 1 << (fraction - 1)
	}
	for k, weight := range weights {
		for x, v := range src.Row(start + k)[:len(sums)] {
			sums[x] += weight * int32(v)
		}
	}
	for x, sum := range sums {
		dst[x] = rounded(sum)
	}
}

// rounded removes the fractional bits of a sum, and limits the result to a byte. Weights that are rounded or
// negative may give a sum below 0, or above the range of a byte.
func rounded(sum int32) byte { return byte(min(max(sum>>fraction, 0), 255)) }
