package chart

import "math"

// scale maps values to positions.
type scale struct {
	low, high, first, last float64
	log                    bool
}

func (s scale) position(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.first + float64((v-low)/(high-low)*(s.last-s.first))
}

// mostTicks is more than any axis has.
const mostTicks = 64

// ticks returns about n round values of the scale, or nil if the range is too narrow or too
// wide for float64 to divide it.
func (s scale) ticks(n int, integer bool) []float64 {
	if s.log {
		return s.decades()
	}
	raw := (s.high - s.low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw*0.999 {
			step *= m
			break
		}
	}
	if integer {
		step = max(step, 1)
	}
	first, last := math.Ceil(s.low/step-1e-9), math.Floor(s.high/step+1e-9)
	if !(last-first < mostTicks && math.Abs(first) < 1<<52 && math.Abs(last) < 1<<52) {
		return nil
	}
	var at []float64
	for i := range int(last-first) + 1 {
		at = append(at, (first+float64(i))*step)
	}
	return at
}

// isNarrow reports whether a chart cannot show the difference between two values: they are equal
// except for rounding.
func isNarrow(low, high float64) bool {
	return high-low <= max(1e-9*max(math.Abs(low), math.Abs(high)), 1e-300)
}

// decades returns powers of ten. If there are few, it also returns twice and five times each of them.
func (s scale) decades() []float64 {
	low, high := math.Floor(math.Log10(s.low)), math.Ceil(math.Log10(s.high))
	every := max(1, math.Ceil((high-low)/8))
	var at []float64
	for i := range int((high-low)/every) + 1 {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, low+float64(float64(i)*every))
			if v >= s.low && v <= s.high && (m == 1 || high-low <= 2) {
				at = append(at, v)
			}
		}
	}
	return at
}
