package kernel

// These are functions over rows of bfloat16 in two bytes. Each converts its rows to float32, does the same
// as the function without Half in its name, and rounds the values that it stores like RoundBF16. Sums are
// sums of the stored values.

// HalfEpilogue is an Epilogue for rows of bfloat16.
type HalfEpilogue struct {
	Plus []uint16
	Relu bool
	Most float32
}

// NormaliseHalf sets y to ((x - hi) - lo)*by + add, per channel, with an epilogue, rounded
// once. y may be x, or the value that the epilogue adds.
func (s *Set) NormaliseHalf(y, x []uint16, a Affine, e HalfEpilogue) {
	n := len(a.Hi)
	y = y[:len(x)]
	bounds := Epilogue{Relu: e.Relu, Most: e.Most}
	least, most := bounds.bounds()
	from, left := eachColumns(s.normHalves, n, len(x), func(k *normColumns[uint16], c, at, count int) {
		hi, lo, by, add := &a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c]
		if e.Plus == nil {
			k.normalise(hi, lo, by, add, &y[at], &x[at], least, most, n, count)
			return
		}
		k.normalisePlus(hi, lo, by, add, &y[at], &x[at], &e.Plus[:len(x)][at], least, most, n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			v := a.parameters(i).Normalise(widened(x[p*n+i]))
			if e.Plus != nil {
				v += widened(e.Plus[p*n+i])
			}
			y[p*n+i] = bf16(bounds.bound(v))
		}
	}
}

// NormaliseGradientHalf sets dx to by*((dy - add) - ((x - hi) - lo)*slope), per
// channel, rounded once. dx may be x or dy.
func (s *Set) NormaliseGradientHalf(dx, x, dy []uint16, a Affine, slope []float32) {
	n := len(a.Hi)
	dx, dy, slope = dx[:len(x)], dy[:len(x)], slope[:n]
	from, left := eachColumns(s.normHalves, n, len(x), func(k *normColumns[uint16], c, at, count int) {
		k.normaliseGradient(&a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c], &slope[c], &dx[at], &x[at], &dy[at],
			n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			dx[p*n+i] = bf16(a.parameters(i).Gradient(widened(x[p*n+i]), widened(dy[p*n+i]), slope[i]))
		}
	}
}
