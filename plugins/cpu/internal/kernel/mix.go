package kernel

// mixKernel is the assembly for pixels that are weighted sums of others: it
// processes as many channels as fill whole vectors of that number of lanes.
type mixKernel struct {
	lanes int
	mix   func(y *float32, x *float32, pixels *int32, weights *float64, taps int, channels int)
}

// Mix sets y, per channel, to a sum over pixels of the image x with a weight for
// each: from 0 on in their order, in float64, every product and every sum rounded.
// pixels says where each begins, in bytes. None give 0.
func (s *Set) Mix(y, x []float32, pixels []int32, weights []float64) {
	if len(weights) != len(pixels) {
		panic("kernel: a weight for each pixel is needed")
	}
	n := 0
	if len(pixels) > 0 && len(y) > 0 {
		checkPixels(len(x), len(y), pixels)
		if s.mixes != nil {
			n = len(y) / s.mixes.lanes * s.mixes.lanes
		}
	}
	if n > 0 {
		s.mixes.mix(&y[0], &x[0], &pixels[0], &weights[0], len(pixels), n)
	}
	for c := n; c < len(y); c++ {
		sum := 0.0
		for i, at := range pixels {
			sum += float64(weights[i] * float64(x[int(at)/4+c]))
		}
		y[c] = float32(sum)
	}
}
