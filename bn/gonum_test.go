package bn_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// The pooled moments of uneven replicas equal the moments of all their values together, computed by
// another library.
func TestPoolAgainstGonum(t *testing.T) {
	draws := tensor.NewPhilox(11, tensor.StreamInit).Draws(0, 0)
	for _, counts := range [][]int{{5, 0, 1, 9}, {0, 0, 7}, {1, 1}, {3, 64, 2, 2, 2, 17, 0, 40}} {
		m := tensor.New(tensor.F64, len(counts), 3)
		var all []float64
		for r, n := range counts {
			values := make([]float64, n)
			for i := range values {
				values[i] = 1000 + draws.Normal() // the mean is 1000 standard deviations
			}
			if n > 0 {
				mean, variance := stat.PopMeanVariance(values, nil)
				copy(m.F64()[3*r:], []float64{float64(n), mean, variance * float64(n)})
			}
			all = append(all, values...)
		}
		mean, variance := stat.PopMeanVariance(all, nil)
		got := bn.Pool(m, 1)
		if got[0] != float64(len(all)) || math.Abs(got[1]-mean) > 1e-12*mean {
			t.Errorf("counts %v: n %v, mean %v, want %d, %v", counts, got[0], got[1], len(all), mean)
		}
		if v := got[2] / got[0]; math.Abs(v-variance) > 1e-9*(variance+1e-9) {
			t.Errorf("counts %v: variance %v, want %v", counts, v, variance)
		}
	}
}
