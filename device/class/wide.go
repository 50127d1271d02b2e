package class

// Large values overflow float32 when they are squared or added. If a sum of a span is not
// finite, it is computed again in float64: one chain over the values from +0, each operation
// rounded. The float64 sum replaces the other one if it is finite, as it always is for finite
// values. The sums are
//
//	sum    sum of x
//	mean   sum of x, divided by n
//	Q      sum of (x - mean)*(x - mean), with this mean
//	S1     sum of dy
//	S2     sum of dy*(x - mean), with the mean in float64

// finiteOr returns v if v is finite. Otherwise it calls sum64 and returns the result if that is
// finite, and v if not.
func finiteOr(v float64, sum64 func() float64) float64 {
	if isFinite(v) {
		return v
	}
	if w := sum64(); isFinite(w) {
		return w
	}
	return v
}

func isFinite(v float64) bool { return v-v == 0 }

// wideChain returns the sum of element(from) to element(to-1), added in float64 in this order.
func wideChain(from, to int, element func(i int) float64) float64 {
	sum := 0.0
	for i := from; i < to; i++ {
		sum += element(i)
	}
	return sum
}

func (c Channel) value64(i int) float64 { return float64(c.At(i)) }
