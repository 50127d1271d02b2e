package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomEpilogue returns an epilogue for a result of n values, with or without a bound of 0.5, and with or
// without values to add. Some of these are NaN or infinite.
func randomEpilogue(r *rand.Rand, n int) Epilogue {
	e := Epilogue{Relu: r.IntN(3) > 0, Most: float32(math.Inf(1))}
	if r.IntN(2) == 0 {
		e.Most = 0.5
	}
	if r.IntN(2) == 0 {
		e.Plus = guarded(r, n)
		for _, v := range []float64{nan, math.Inf(1), math.Inf(-1)} {
			if n > 0 {
				e.Plus[r.IntN(n)] = float32(v)
			}
		}
	}
	return e
}

func TestEpilogue(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		e       Epilogue
		x, want float64
	}{
		{Epilogue{}, -7, -7}, {Epilogue{Relu: true, Most: 6}, -7, 0}, {Epilogue{Relu: true, Most: 6}, 7, 6},
		{Epilogue{Relu: true, Most: 6}, nan, nan}, {Epilogue{Relu: true, Most: 6}, negativeZero, negativeZero},
		{Epilogue{Relu: true, Most: float32(inf)}, inf, inf},
		{Epilogue{Plus: []float32{3}, Relu: true, Most: 6}, -2, 1}, {Epilogue{Plus: []float32{3}}, -7, -4},
	} {
		if got := c.e.applyTo(0, float32(c.x)); !sameBits([]float32{got}, []float32{float32(c.want)}) {
			t.Errorf("%+v: %v becomes %v, want %v", c.e, c.x, got, c.want)
		}
	}
}
