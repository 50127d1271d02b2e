package kernel

// Large values overflow float32 when they are squared or added. A sum of a channel that is
// not finite is computed again in float64, as device/class/wide.go defines. The other sums
// are not changed.

func isFinite(v float64) bool { return v-v == 0 }

// value64 returns a float32, or the bits of a bfloat16, as float64.
func value64[T float32 | uint16](v T) float64 {
	if h, ok := any(v).(uint16); ok {
		return float64(widened(h))
	}
	return float64(v)
}

// replace sets v to the result of sum if v is not finite, but the result is.
func replace(v *float64, sum func() float64) {
	if isFinite(*v) {
		return
	}
	if w := sum(); isFinite(w) {
		*v = w
	}
}

// wideSum returns the sum of channel c in float64. Rows have n channels.
func wideSum[T float32 | uint16](x []T, n, c int) (sum float64) {
	for ; c < len(x); c += n {
		sum += value64(x[c])
	}
	return sum
}

// widenSums computes sums again in float64 if they are not finite. sum has the sums of channels [first,
// first+len(sum)) of rows with n channels.
func widenSums[T float32 | uint16](sum []float64, x []T, n, first int) {
	for c := range sum {
		if !isFinite(sum[c]) {
			replace(&sum[c], func() float64 { return wideSum(x, n, first+c) })
		}
	}
}

// widenMoments computes moments of x again in float64 if they are not finite.
func widenMoments[T float32 | uint16](mean, q []float64, x []T) {
	n := len(q)
	for c := range q {
		if isFinite(q[c]) && isFinite(mean[c]) {
			continue
		}
		centre := wideSum(x, n, c) / float64(len(x)/n)
		replace(&mean[c], func() float64 { return centre })
		replace(&q[c], func() (sum float64) {
			for i := c; i < len(x); i += n {
				d := value64(x[i]) - centre
				sum += float64(d * d)
			}
			return sum
		})
	}
}

// widenGradientSums computes the sums of dy and dy*(x - mean) that are not finite again in float64.
func widenGradientSums[T float32 | uint16](s1, s2, mean []float64, x, dy []T) {
	n := len(s1)
	widenSums(s1, dy, n, 0)
	for c := range s2 {
		if isFinite(s2[c]) {
			continue
		}
		replace(&s2[c], func() (sum float64) {
			for i := c; i < len(x); i += n {
				sum += float64(value64(dy[i]) * (value64(x[i]) - mean[c]))
			}
			return sum
		})
	}
}
