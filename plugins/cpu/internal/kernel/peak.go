package kernel

// peakChains is the number of chains of multiply-adds that Peak keeps going,
// enough to hide the latency of one.
const peakChains = 12

// Peak performs n rounds of multiply-adds without reading memory, and returns the number of floating-point
// operations; a multiply-add counts as 2. The resulting rate is an upper limit for all kernels of the set.
func (s *Set) Peak(n int) (operations int) {
	lanes := 1
	if s.peak != nil {
		s.peak(n)
		lanes = s.lanes
	} else {
		peakSink = peakGeneric(n)
	}
	return 2 * peakChains * lanes * n
}

// peakSink prevents the compiler from removing the sums.
//
//lint:ignore U1000 it is never read on purpose
var peakSink float32

// peakGeneric is Peak in plain Go: x = x*a + b in every chain.
func peakGeneric(n int) float32 {
	const a, b = 0.999, 0.001
	var s, t, u, v, w, x float32
	var s1, t1, u1, v1, w1, x1 float32
	for range n {
		s, t, u = float32(s*a)+b, float32(t*a)+b, float32(u*a)+b
		v, w, x = float32(v*a)+b, float32(w*a)+b, float32(x*a)+b
		s1, t1, u1 = float32(s1*a)+b, float32(t1*a)+b, float32(u1*a)+b
		v1, w1, x1 = float32(v1*a)+b, float32(w1*a)+b, float32(x1*a)+b
	}
	return s + t + u + v + w + x + s1 + t1 + u1 + v1 + w1 + x1
}
