package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

func TestExpDoubles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), -707, 709, -745.2, -740,
		709.8, 0x1p-1074, math.Ln2 / 2, -math.Ln2 / 2}
	for i := range 3000 {
		x, y := make([]float64, r.IntN(700)), make([]float64, 700)
		for k := range x {
			x[k] = r.NormFloat64() * math.Pow(10, float64(i%4))
			if i%3 == 0 {
				x[k] = r.Float64()*1416 - 707
			}
			if i%50 == 0 && r.IntN(20) == 0 {
				x[k] = special[r.IntN(len(special))]
			}
		}
		for _, s := range Sets() {
			s.ExpDoubles(y, x, tensor.Exp)
			for k, v := range x {
				want := tensor.Exp(v)
				if math.Float64bits(y[k]) != math.Float64bits(want) && (want == want || y[k] == y[k]) {
					t.Fatalf("%s: exp of %v is %v, want %v", s.Name, v, y[k], want)
				}
			}
		}
	}
}
