package step

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestJoinRows: the outputs of consecutive rows are joined by name.
func TestJoinRows(t *testing.T) {
	a, b := tensor.Of([]float32{1, 2, 3, 4}, 2, 2), tensor.Of([]float32{5, 6}, 1, 2)
	c, d := tensor.Of([]int64{7, 8}, 2), tensor.Of([]int64{9}, 1)
	got := JoinRows([][]tensor.Tensor{{a, c}, {b, d}})
	if len(got) != 2 || !tensor.Equal(got[0], tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)) ||
		!tensor.Equal(got[1], tensor.Of([]int64{7, 8, 9}, 3)) {
		t.Errorf("%v", got)
	}
	if a.F32()[0] != 1 || len(a.Shape) != 2 || a.Shape[0] != 2 {
		t.Errorf("a part was changed: %v", a)
	}
	if got := JoinRows(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// TestWithZeros: missing state tensors become zeros.
func TestWithZeros(t *testing.T) {
	p := &graph.Program{State: []graph.State{{Name: "a", DType: tensor.F32, Shape: []int{2}},
		{Name: "b", DType: tensor.F32, Shape: []int{3}}}}
	full := WithZeros(p, map[string]tensor.Tensor{"a": tensor.Of([]float32{1, 2}, 2), "c": tensor.New(tensor.F32, 1)})
	zeros := make([]float32, 3)
	if len(full) != 2 || !slices.Equal(full["a"].F32(), []float32{1, 2}) || !slices.Equal(full["b"].F32(), zeros) {
		t.Errorf("%v", full)
	}
}
