package kernel

import "github.com/bnctl/bnctl/device/class"

// Maps of bytes are added, quantised and pooled by the arithmetic of class.Int8.

// AddInt8 sets y to the sums of the bytes of a and b.
func (s *Set) AddInt8(y, a, b []uint8, r class.Addends) {
	a, b = a[:len(y)], b[:len(y)]
	n := 0
	if k := s.int8; k != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		if r.Joint {
			k.addJoint(&y[0], &a[0], &b[0], r.ABy, r.BBy, r.At, upperBound(r.Int8), int(r.Zero), int(r.Min), n/k.lanes)
		} else {
			k.add(&y[0], &a[0], &b[0], r.ABy, r.BBy, upperBound(r.Int8), int(r.AZero), int(r.BZero), int(r.Zero),
				int(r.Min), n/k.lanes)
		}
	}
	for i := n; i < len(y); i++ {
		y[i] = r.Sum(a[i], b[i])
	}
}

// QuantizeInt8 sets y to the values of x in steps of scale.
func (s *Set) QuantizeInt8(y []uint8, x []float32, q class.Int8, scale float32) {
	x = x[:len(y)]
	n := 0
	if k := s.int8; k != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.quantize(&y[0], &x[0], scale, upperBound(q), int(q.Zero), n/k.lanes)
	}
	for i := n; i < len(y); i++ {
		y[i] = q.Quantize(x[i], scale)
	}
}

// MulInt8 sets y to the products of the bytes of a and b.
func (s *Set) MulInt8(y, a, b []uint8, r class.Factors) {
	a, b = a[:len(y)], b[:len(y)]
	n := 0
	if k := s.int8; k != nil && k.mul != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.mul(&y[0], &a[0], &b[0], r.By, r.At, upperBound(r.Int8), int(r.AZero), int(r.BZero), int(r.Zero),
			int(r.Min),
			n/k.lanes)
	}
	for i := n; i < len(y); i++ {
		y[i] = r.Product(int32(a[i])-r.AZero, int32(b[i])-r.BZero)
	}
}

// DequantizeInt8 sets y to the numbers that the bytes of x represent.
func (s *Set) DequantizeInt8(y []float32, x []uint8, zero int32, scale float32) {
	x = x[:len(y)]
	n := 0
	if k := s.int8; k != nil && k.dequantize != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.dequantize(&y[0], &x[0], scale, int(zero), n/k.lanes)
	}
	for i := n; i < len(y); i++ {
		y[i] = scale * float32(int32(x[i])-zero)
	}
}

// MaxPoolInt8 sets y to the maxima, per channel, of some pixels of x. pixels has four times the offset of
// each of these pixels in bytes.
func (s *Set) MaxPoolInt8(y, x []uint8, pixels []int32) {
	n := 0
	if k := s.int8; k != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.maxPool(&y[0], &x[0], &pixels[0], len(pixels), n/k.lanes)
	}
	const lanes = 16
	if k := s.int8; k != nil && k.maxPool16 != nil && len(y) >= lanes {
		for ; n < len(y); n += lanes {
			n = min(n, len(y)-lanes) // the last lanes overlap with the lanes before
			k.maxPool16(&y[n], &x[n], &pixels[0], len(pixels), 1)
		}
	}
	n = min(n, len(y))
	y = y[n:]
	clear(y)
	for _, at := range pixels {
		for c, v := range x[int(at)/4+n:][:len(y)] {
			y[c] = max(y[c], v)
		}
	}
}

// TableInt8 looks up the bytes of x in a table, and sets y to the results.
func (s *Set) TableInt8(y, x []uint8, table *[256]uint8) {
	const lanes = 64
	x = x[:len(y)]
	n := 0
	if s.tableInt8 != nil && len(y) >= lanes {
		n = len(y) / lanes * lanes
		s.tableInt8(&y[0], &x[0], table, n/lanes)
	}
	for i, v := range x[n:] {
		y[n+i] = table[v]
	}
}

// SumInt8 sets sums to the sums of the bytes of each channel over consecutive pixels of x.
func (s *Set) SumInt8(sums []int32, x []uint8, pixels int) {
	const words = 256 // number of bytes with a sum that fits in a word
	clear(sums)
	channels, n := len(sums), 0
	if k := s.int8; k != nil && k.sum != nil && channels >= k.lanes/2 {
		n = channels / (k.lanes / 2) * (k.lanes / 2)
		for p := 0; p < pixels; p += words {
			k.sum(&sums[0], &x[p*channels], channels, min(words, pixels-p), n/(k.lanes/2))
		}
	}
	if n == channels {
		return
	}
	for p := range pixels {
		for c, v := range x[p*channels+n : (p+1)*channels] {
			sums[n+c] += int32(v)
		}
	}
}

// GatePixels returns the number of pixels that GateInt8 should process at once, so that
// their channels fill whole registers.
func (s *Set) GatePixels(channels int) int {
	if s.int8 == nil {
		return 1
	}
	for n := 1; n*channels <= mostChunkInt8; n++ {
		if n*channels%s.int8.lanes == 0 {
			return n
		}
	}
	return 1
}

// GateInt8 sets y, some pixels, to products. One factor is a byte of a minus its zero point, the other is
// an element of gate, which has a whole number of at most 255 for each byte.
func (s *Set) GateInt8(y, a []uint8, gate []float32, r class.Factors) {
	a, gate = a[:len(y)], gate[:len(y)]
	n := 0
	if k := s.int8; k != nil && k.gate != nil && len(y) >= k.lanes {
		n = len(y) / k.lanes * k.lanes
		k.gate(&y[0], &a[0], &gate[0], r.By, r.At, upperBound(r.Int8), int(r.AZero), int(r.Zero), int(r.Min),
			n/k.lanes)
	}
	for i := n; i < len(y); i++ {
		y[i] = r.Product(int32(a[i])-r.AZero, int32(gate[i]))
	}
}
