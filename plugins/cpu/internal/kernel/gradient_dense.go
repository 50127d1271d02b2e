package kernel

import "fmt"

// denseGradientTile is the assembly for tiles of the given number of values. One call computes several
// tiles, over rows that begin every step bytes.
type denseGradientTile struct {
	values int
	tile   func(sum *float32, in *float32, inStep int, grad *float32, gradStep int, rows int, tiles int, add int)
}

// HasDenseGradient reports whether DenseGradient is faster than Gradient.
func (s *Set) HasDenseGradient() bool { return s.denseGradient != nil }

// DenseGradient sets sums, [values][PanelLanes], to the products of rows of in and of grad.
// The rows are inStep and gradStep values apart:
//
//	sums[k][c] = sum over r of in[r*inStep+k] * grad[r*gradStep+c]
//
// Every element is one chain over r from +0, like in Gradient. If add is set, the chain is
// added to the previous sums.
func (s *Set) DenseGradient(sums, in []float32, inStep int, grad []float32, gradStep, rows, values int,
	add bool) {
	if rows < 1 || values < 1 || len(sums) < values*PanelLanes || len(in) < (rows-1)*inStep+values ||
		len(grad) < (rows-1)*gradStep+PanelLanes {
		panic(fmt.Sprintf("kernel.DenseGradient: %d rows of %d values: %d sums, %d values in steps of %d and %d "+
			"of %d", rows, values, len(sums), len(in), inStep, len(grad), gradStep))
	}
	k := 0
	for _, t := range s.denseGradient {
		if n := (values - k) / t.values; n > 0 {
			flag := 0
			if add {
				flag = 1
			}
			t.tile(&sums[k*PanelLanes], &in[k], 4*inStep, &grad[0], 4*gradStep, rows, n, flag)
			k += n * t.values
		}
	}
	var chain [PanelLanes]float32
	for ; k < values; k++ {
		clear(chain[:])
		for r := range rows {
			if g := grad[r*gradStep:][:PanelLanes]; s.fused {
				addFused(chain[:], g, in[r*inStep+k])
			} else {
				addRounded(chain[:], g, in[r*inStep+k])
			}
		}
		to := sums[k*PanelLanes:][:PanelLanes]
		if add {
			s.Add(to, to, chain[:])
		} else {
			copy(to, chain[:])
		}
	}
}
