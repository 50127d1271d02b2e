package data

import (
	"math"
	"sync"
)

// box is a part of a picture, in pixels.
type box struct{ x, y, w, h int }

// plane is a picture as it is worked on: h x w pixels of c bytes.
type plane struct {
	h, w, c int
	pix     []byte
}

// resample scales the part from of src to w x h pixels and writes the window
// of the result to dst, which has the window's size and src's channels.
//
// It is the bilinear filter with antialias of Pillow (and of torchvision on
// pictures): a triangle as wide as the larger of both pixel sizes, first along
// rows, then along columns, in fixed point with 22 fractional bits.
func resample(dst plane, src plane, from box, w, h int, window box) {
	across := tents(from.x, from.w, w, window.x, window.w)
	down := tents(from.y, from.h, h, window.y, window.h)
	// Only the rows that the second pass reads.
	first := down[0].start
	last := down[len(down)-1]
	rows := last.start + len(last.weights) - first
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	if need := rows * window.w * src.c; cap(*buf) < need {
		*buf = make([]byte, need)
	}
	middle := plane{rows, window.w, src.c, (*buf)[:rows*window.w*src.c]}
	for y := range rows {
		resampleRow(middle.row(y), src.row(first+y), src.c, across)
	}
	sums := make([]uint32, window.w*src.c)
	for y, t := range down {
		resampleColumns(dst.row(y), sums, middle, t.start-first, t.weights)
	}
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

func (p plane) row(y int) []byte { return p.pix[y*p.w*p.c : (y+1)*p.w*p.c] }

// fraction is the number of fractional bits of a weight.
const fraction = 22

// tent is the filter of one result pixel: where it starts and the weights of
// the pixels from there on, in fixed point.
type tent struct {
	start   int
	weights []uint32
}

// tents returns the filters for results [first, first+count) of size, when
// length pixels from begin on are scaled to size.
func tents(begin, length, size, first, count int) []tent {
	scale := float64(length) / float64(size)
	support := max(scale, 1) // half the triangle's width, in source pixels
	all := make([]tent, count)
	for i := range all {
		center := float64((float64(first+i) + 0.5) * scale)
		low := max(int(center-support+0.5), 0)
		high := min(int(center+support+0.5), length)
		weights, sum := make([]float64, high-low), 0.0
		for k := range weights {
			distance := math.Abs(float64((float64(low+k) - center + 0.5) * (1 / support)))
			weights[k] = max(1-distance, 0)
			sum += weights[k]
		}
		all[i] = tent{begin + low, make([]uint32, len(weights))}
		for k, v := range weights {
			all[i].weights[k] = uint32(float64(v/sum*(1<<fraction)) + 0.5)
		}
	}
	return all
}

// resampleRow filters one row of pixels of c channels.
func resampleRow(dst, src []byte, c int, across []tent) {
	if c == 3 {
		resampleRowRGB(dst, src, across)
		return
	}
	for x, t := range across {
		for channel := range c {
			sum := uint32(1) << (fraction - 1)
			at := t.start*c + channel
			for _, weight := range t.weights {
				sum += weight * uint32(src[at])
				at += c
			}
			dst[x*c+channel] = rounded(sum)
		}
	}
}

// resampleRowRGB is resampleRow for three channels, which it takes together.
func resampleRowRGB(dst, src []byte, across []tent) {
	for x, t := range across {
		r := uint32(1) << (fraction - 1)
		g, b := r, r
		pixels := src[3*t.start : 3*(t.start+len(t.weights))]
		for _, weight := range t.weights {
			r += weight * uint32(pixels[0])
			g += weight * uint32(pixels[1])
			b += weight * uint32(pixels[2])
			pixels = pixels[3:]
		}
		dst[3*x], dst[3*x+1], dst[3*x+2] = rounded(r), rounded(g), rounded(b)
	}
}

// resampleColumns filters the rows of src from start on into one row; sums is
// memory for as many numbers.
func resampleColumns(dst []byte, sums []uint32, src plane, start int, weights []uint32) {
	for x := range sums {
		sums[x] = 1 << (fraction - 1)
	}
	for k, weight := range weights {
		for x, v := range src.row(start + k)[:len(sums)] {
			sums[x] += weight * uint32(v)
		}
	}
	for x, sum := range sums {
		dst[x] = rounded(sum)
	}
}

// rounded takes the fractional bits off. Thousands of rounded weights may add
// up to a little more than one.
func rounded(sum uint32) byte { return byte(min(sum>>fraction, 255)) }
