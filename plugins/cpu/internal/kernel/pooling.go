package kernel

// pools is the assembly for windows of pixels: it processes as many channels as
// fill whole vectors of that number of lanes.
type pools struct {
	lanes    int
	max      func(y *float32, x *float32, pixels *int32, taps int, channels int)
	gradient func(dx *float32, x *float32, dy *float32, pixels *int32, taps int, channels int)
}

// whole returns how many of n channels the assembly treats.
func (p *pools) whole(n int) int {
	if p == nil {
		return 0
	}
	return n / p.lanes * p.lanes
}

// MaxPool sets y, per channel, to the largest value of some pixels of the
// image x; to NaN if one of them is. pixels says where each begins, in bytes.
func (s *Set) MaxPool(y, x []float32, pixels []int32) {
	checkPixels(len(x), len(y), pixels)
	n := s.pools.whole(len(y))
	if n > 0 {
		s.pools.max(&y[0], &x[0], &pixels[0], len(pixels), n)
	}
	for c := n; c < len(y); c++ {
		y[c] = x[largest(x, pixels, c)]
	}
}

// MaxPoolGradient adds dy, per channel, to the element of dx whose x is the
// first maximum of these pixels, or the first NaN.
func (s *Set) MaxPoolGradient(dx, x, dy []float32, pixels []int32) {
	checkPixels(min(len(x), len(dx)), len(dy), pixels)
	n := s.pools.whole(len(dy))
	if n > 0 {
		s.pools.gradient(&dx[0], &x[0], &dy[0], &pixels[0], len(pixels), n)
	}
	for c := n; c < len(dy); c++ {
		dx[largest(x, pixels, c)] += dy[c]
	}
}

// largest returns where the first maximum, or the first NaN, lies in x.
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

// checkPixels panics unless there are pixels and all lie inside the image.
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
