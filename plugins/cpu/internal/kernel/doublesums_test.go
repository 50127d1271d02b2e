package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDoubleSums(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for channels := 1; channels < 150; channels++ {
		x, first := guarded(r, channels*(channels%7)), r.NormFloat64()
		for _, s := range Sets() {
			sum := make([]float64, channels)
			sum[0] = first
			s.DoubleSums(sum, x)
			for c, got := range sum {
				want := 0.0
				if c == 0 {
					want = first
				}
				for at := c; at < len(x); at += channels {
					want += float64(x[at])
				}
				if math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%s: channel %d of %d: %v, want %v", s.Name, c, channels, got, want)
				}
			}
		}
	}
}
