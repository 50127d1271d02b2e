package class_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// TestSoftmax compares Softmax with a computation in float64.
func TestSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 3))
	for _, n := range []int{1, 2, 16, 63, 64, 65, 1000, 21000} {
		x, y, logs := make([]float32, n), make([]float32, n), make([]float32, n)
		most, sum := math.Inf(-1), 0.0
		for i := range x {
			x[i] = float32(4 * r.NormFloat64())
			most = max(most, float64(x[i]))
		}
		for _, v := range x {
			sum += math.Exp(float64(v) - most)
		}
		class.Softmax(y, x, false)
		class.Softmax(logs, x, true)
		for i, v := range x {
			d := float64(v) - most
			if off := ulpsOff(y[i], math.Exp(d)/sum); off > 4 && math.Abs(d) < 1 {
				t.Errorf("%d elements: softmax is off by %.2f ulp at %g", n, off, v)
			}
			if want := math.Exp(d) / sum; math.Abs(float64(y[i])-want) > want*0x1p-22*math.Max(1, math.Abs(d)/2) {
				t.Errorf("%d elements: softmax is %g at %g, want %g", n, y[i], v, want)
			}
			if want := d - math.Log(sum); math.Abs(float64(logs[i])-want) > 0x1p-22*math.Max(1, math.Abs(want)) {
				t.Errorf("%d elements: log_softmax is %g at %g, want %g", n, logs[i], v, want)
			}
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, x := range [][]float32{{1, nan, 2}, {nan, 1}, {1, inf}, {-inf, -inf}} {
		y := make([]float32, len(x))
		for _, logarithm := range []bool{false, true} {
			class.Softmax(y, x, logarithm)
			if y[len(y)-1] == y[len(y)-1] {
				t.Errorf("softmax of %v is %v, want NaN", x, y)
			}
		}
	}
	y := make([]float32, 2)
	if class.Softmax(y, []float32{-inf, 3}, false); y[0] != 0 || y[1] != 1 {
		t.Errorf("softmax of -Inf and 3 is %v, want 0 and 1", y)
	}
	for _, far := range []float32{-87.00001, -100, -104, -1e30} {
		if class.Softmax(y, []float32{far, 0}, false); math.Float32bits(y[0]) != 0 || y[1] != 1 {
			t.Errorf("softmax of %g and 0 is %v, want +0 and 1", far, y)
		}
	}
	if class.Softmax(y, []float32{-87, 0}, false); ulpsOff(y[0], math.Exp(-87)) > 4 {
		t.Errorf("softmax of -87 and 0 is %v, want %g", y, math.Exp(-87))
	}
}
