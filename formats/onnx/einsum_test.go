package onnx

import (
	"slices"
	"strings"
	"testing"
)

// TestEinsum covers axes in place of "...", equations without a result, and sums of one
// operand. The numbers were computed by hand, for x = [[0 1 2] [3 4 5]].
func TestEinsum(t *testing.T) {
	weight := floats("w", []int64{3, 2}, 1, 0, 0, 1, 1, 1)
	for _, c := range []struct {
		equation, in string
		want         []float64
		refused      string
	}{
		{"bcw->bc", "x", []float64{3, 12}, ""},
		{"bcw->b", "x", []float64{15}, ""},
		{"...", "x", []float64{0, 1, 2, 3, 4, 5}, ""},
		{"b...w->bw...", "x", []float64{0, 3, 1, 4, 2, 5}, ""},
		{"...c,cd->...d", "x w", []float64{2, 3, 8, 9}, ""},
		{"bcw , wd", "x w", []float64{2, 3, 8, 9}, ""},
		{"bcw,bdw->bc", "x x", []float64{0 + 1*5 + 2*7, 3*3 + 4*5 + 5*7}, ""},
		{"bcw,bcw->b", "x x", []float64{0 + 1 + 4 + 9 + 16 + 25}, ""},
		{"bcw,wd->bcw", "x w", nil, "sums the letter 'd' of a constant"},
		{"bcw...->bcw", "x", []float64{0, 1, 2, 3, 4, 5}, ""},
		{"b...->b", "x", nil, `the equation "b...->b" does not fit 1 operand`},
		{"bcw....->bcw", "x", nil, "does not fit 1 operand"},
		{"bcw,wd->bcd", "x", nil, "does not fit 1 operand"},
		{"bcwxyz...->bcw", "x", nil, "does not fit 1 operand"},
	} {
		m := modelOf(13, 0, []int64{2, 3}, nil, weight, op("Einsum", c.in, "y", textAttr("equation", c.equation)))
		if c.refused != "" {
			if got := became(readModel(t, m)); !strings.Contains(got, c.refused) {
				t.Errorf("%s: %s, want %s", c.equation, got, c.refused)
			}
			continue
		}
		if got := evalCounting(t, m); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.equation, got, c.want)
		}
	}
}
