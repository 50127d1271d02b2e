package chart

import "math"

// scale maps values to positions.
type scale struct {
	low, high, from, to float64
	log                 bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + float64((v-low)/(high-low)*(s.to-s.from))
}

// ticks returns about n round values of the scale.
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
	var at []float64
	for k := math.Ceil(s.low/step - 1e-9); k*step <= s.high+step*1e-9; k++ {
		at = append(at, k*step)
	}
	return at
}

// decades returns powers of ten, or with few of them also twice and five times these.
func (s scale) decades() []float64 {
	low, high := math.Floor(math.Log10(s.low)), math.Ceil(math.Log10(s.high))
	every := max(1, math.Ceil((high-low)/8))
	var at []float64
	for e := low; e <= high; e += every {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v >= s.low && v <= s.high && (m == 1 || high-low <= 2) {
				at = append(at, v)
			}
		}
	}
	return at
}
