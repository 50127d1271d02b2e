package cpu

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/tensor"
)

// Some products have operands that three parts in bfloat16 cannot represent. In any position and with any
// weights, they are as precise as the others, and infinite and NaN results are preserved.
func TestMatrixApart(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	d := openSet(t, "auto", 2)
	for _, weight := range []float64{1, 0x1p-70, 0x1p-110, 0x1p90, math.Inf(1)} {
		x, w := randomTensor(r, tensor.F32, []int{2, 64, 5, 7}), randomTensor(r, tensor.F32, []int{136, 64, 1, 1})
		w.F32()[64*70+3] = float32(weight)
		for _, v := range []float64{1, math.NaN(), math.Inf(-1), 0x1p-110, 0x1p-60, 0x1p110} {
			for _, at := range []int{0, 3*35 + 17, (64+3)*35 + 34} {
				poisoned := x.Clone()
				poisoned.F32()[at] = float32(v)
				got, want := convolved(t, d, poisoned, w, 1), convolved(t, ref.New("ref"), poisoned, w, 1)
				scale := convolved(t, ref.New("ref"), sizes(poisoned), sizes(w), 1)
				for i, g := range got.F32() {
					size, exact := float64(scale.F32()[i]), float64(want.F32()[i])
					finite := !math.IsNaN(exact) && !math.IsInf(exact, 0)
					if off := math.Abs(float64(g) - exact); size < math.MaxFloat32 && !(off <= 2e-6*size) ||
						!finite && (float64(g)-float64(g) == 0) {
						t.Fatalf("%g at %d, a weight of %g: output %d is %g, want %g", v, at, weight, i, g, exact)
					}
				}
			}
		}
	}
}

// At precision bf16 layers that matrix units may compute agree with ref, and have the same
// bits for any number of workers.
func TestMatrixBF16(t *testing.T) {
	rows := []int{3, 0, 2, 7}
	exact, err := ref.Provider{}.Open(context.Background(), device.DefaultID,
		device.Options{Precision: device.BF16})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range opCases(t) {
		if !strings.HasPrefix(c.name, "matrix") && c.name != "conv tiles" {
			continue
		}
		p := program(t, c)
		want := evaluate(t, exact, p, rows, 0, len(rows))
		var first []tensor.Tensor
		for _, threads := range []int{1, 2, 3} {
			got := evaluate(t, openBF16(t, "auto", threads), p, rows, 0, len(rows))
			if first == nil {
				first = got
			}
			for i := range want {
				if d := difference(got[i], want[i]); !(d <= 0x1p-7) {
					t.Errorf("%s: output %d differs from ref by %.2g", c.name, i, d)
				}
				if !tensor.Equal(got[i], first[i]) {
					t.Errorf("%s: output %d has other bits with %d threads", c.name, i, threads)
				}
			}
		}
	}
}
