package kernel

import "github.com/bnctl/bnctl/device/class"

// Maps of bytes are added, quantised and pooled by the arithmetic of class.Int8.

// Addends is how two maps of bytes are added: class.Int8.Sum of what is above their zeros.
type Addends struct {
	class.Int8
	AZero, BZero int32
	ABy, BBy     float32
}

// AddInt8 sets y to the sums of as many bytes of a and of b.
func (s *Set) AddInt8(y, a, b []uint8, r Addends) {
	a, b = a[:len(y)], b[:len(y)]
	n := 0
	if k := s.int8; k != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.add(&y[0], &a[0], &b[0], r.ABy, r.BBy, most(r.Int8), int(r.AZero), int(r.BZero), int(r.Zero), int(r.Min),
			n/k.lanes)
	}
	for i := n; i < len(y); i++ {
		y[i] = r.Sum(int32(a[i])-r.AZero, int32(b[i])-r.BZero, r.ABy, r.BBy)
	}
}

// QuantizeInt8 sets y to as many values of x in steps of scale.
func (s *Set) QuantizeInt8(y []uint8, x []float32, q class.Int8, scale float32) {
	x = x[:len(y)]
	n := 0
	if k := s.int8; k != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.quantize(&y[0], &x[0], scale, most(q), int(q.Zero), n/k.lanes)
	}
	for i := n; i < len(y); i++ {
		y[i] = q.Quantize(x[i], scale)
	}
}

// MaxPoolInt8 sets y, one pixel, to the maxima of pixels of x, offsets of four times their bytes.
func (s *Set) MaxPoolInt8(y, x []uint8, pixels []int32) {
	n := 0
	if k := s.int8; k != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.maxPool(&y[0], &x[0], &pixels[0], len(pixels), n/k.lanes)
	}
	y = y[n:]
	clear(y)
	for _, at := range pixels {
		for c, v := range x[int(at)/4+n:][:len(y)] {
			y[c] = max(y[c], v)
		}
	}
}
