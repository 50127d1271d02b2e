package kernel

import "math"

// pools is the assembly for windows of pixels. It processes the channels that fill whole
// vectors of the given number of lanes.
type pools struct {
	lanes    int
	max      func(y *float32, x *float32, pixels *int32, taps int, channels int)
	gradient func(dx *float32, x *float32, dy *float32, pixels *int32, taps int, channels int)
	// quads computes windows of four pixels until one has a NaN. It returns the number of windows left,
	// starting with that one. quads may be nil.
	quads func(dx *float32, x *float32, dy *float32, pixels *int32, windows int, channels int) int
}

// wholeVectors returns how many of n channels the assembly processes.
func (p *pools) wholeVectors(n int) int {
	if p == nil {
		return 0
	}
	return n / p.lanes * p.lanes
}

// MaxPool sets y, per channel, to the largest value of some pixels of the image x, or to
// NaN if one of them is NaN. pixels holds the offset of each pixel, in bytes.
func (s *Set) MaxPool(y, x []float32, pixels []int32) {
	checkPixels(len(x), len(y), pixels)
	n := s.pools.wholeVectors(len(y))
	if n > 0 {
		s.pools.max(&y[0], &x[0], &pixels[0], len(pixels), n)
	}
	if n > 0 && n < len(y) { // the last vector ends with the last channel, so some channels are done twice
		at := len(y) - s.pools.lanes
		s.pools.max(&y[at], &x[at], &pixels[0], len(pixels), s.pools.lanes)
		return
	}
	for c := n; c < len(y); c++ {
		y[c] = x[largest(x, pixels, c)]
	}
}

// MaxPoolGradient adds dy, per channel, to the element of dx at the first maximum of x in
// these pixels, or at the first NaN. spare is temporary memory of Lanes values.
func (s *Set) MaxPoolGradient(dx, x, dy []float32, pixels []int32, spare []float32) {
	checkPixels(min(len(x), len(dx)), len(dy), pixels)
	n := s.pools.wholeVectors(len(dy))
	if n > 0 {
		s.pools.gradient(&dx[0], &x[0], &dy[0], &pixels[0], len(pixels), n)
	}
	if n > 0 && n < len(dy) { // the last vector ends with the last channel; its channels before n get -0 added
		at := len(dy) - s.pools.lanes
		last := spare[:copy(spare[:Lanes], dy[at:])]
		for c := range n - at {
			last[c] = float32(math.Copysign(0, -1))
		}
		s.pools.gradient(&dx[at], &x[at], &last[0], &pixels[0], len(pixels), s.pools.lanes)
		return
	}
	for c := n; c < len(dy); c++ {
		dx[largest(x, pixels, c)] += dy[c]
	}
}

// MaxPoolQuads sets pixels of dx to the gradient of windows with four pixels each, all different. The
// result is the same as if MaxPoolGradient added to zeros. Window i reads pixels[4*i:][:4], and its dy has
// the given number of channels from dy[i*channels] on. spare is memory for Lanes values.
func (s *Set) MaxPoolQuads(dx, x, dy []float32, pixels []int32, channels int, spare []float32) {
	windows := len(pixels) / 4
	if windows == 0 {
		return
	}
	checkPixels(min(len(x), len(dx)), channels, pixels)
	dy = dy[:windows*channels]
	fast := channels > 0 && s.pools.wholeVectors(channels) == channels && s.pools.quads != nil
	for i := 0; i < windows; i++ {
		if fast {
			i = windows - s.pools.quads(&dx[0], &x[0], &dy[i*channels], &pixels[4*i], windows-i, channels)
			if i == windows {
				return
			}
		}
		seen := pixels[4*i:][:4]
		for _, at := range seen {
			clear(dx[at/4:][:channels])
		}
		s.MaxPoolGradient(dx, x, dy[i*channels:][:channels], seen, spare)
	}
}

// largest returns the index in x, for channel c, of the first maximum among the pixels, or of the first
// NaN.
func largest(x []float32, pixels []int32, c int) int {
	best := int(pixels[0])/4 + c
	for _, at := range pixels[1:] {
		k := int(at)/4 + c
		if v := x[k]; v > x[best] || v != v && x[best] == x[best] {
			best = k
		}
	}
	return best
}

// checkPixels panics if the list of pixels is empty or a pixel is outside the image.
func checkPixels(image, channels int, pixels []int32) {
	for _, at := range pixels {
		if at < 0 || int(at)/4+channels > image {
			panic("kernel: a pooled pixel lies outside the image")
		}
	}
	if len(pixels) == 0 {
		panic("kernel: a pooled window without a pixel")
	}
}
