package onnx

import (
	"strings"
	"testing"
)

// TestGlobalLpPool checks the norms of [3 -4 0 0] and [1 2 2 4] against those of numpy.linalg.norm
// for p.
func TestGlobalLpPool(t *testing.T) {
	x := []float64{3, -4, 0, 0, 1, 2, 2, 4}
	for p, want := range map[int][]float64{1: {7, 9}, 2: {5, 5}, 3: {4.497941445275415, 4.326748710922225}} {
		for _, shape := range [][]int64{{2, 2, 2}, {2, 4}} {
			elements(t, "GlobalLpPool", modelOf(13, 0, shape, nil, op("GlobalLpPool", "x", "y", intAttr("p", p))), x, want)
		}
	}
	elements(t, "without p", modelOf(13, 0, []int64{2, 4}, nil, op("GlobalLpPool", "x", "y")), x, []float64{5, 5})
}

func TestGlobalLpPoolRefused(t *testing.T) {
	for want, c := range map[string]struct {
		shape []int64
		p     int
	}{"of [4] with p=2": {[]int64{4}, 2}, "of [2 4] with p=0": {[]int64{2, 4}, 0}} {
		m := modelOf(13, 0, c.shape, nil, op("GlobalLpPool", "x", "y", intAttr("p", c.p)))
		if got := became(readModel(t, m)); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
