package parallel

import (
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestJoinRows joins the outputs of consecutive rows, each with the others of its name.
func TestJoinRows(t *testing.T) {
	a, b := tensor.Of([]float32{1, 2, 3, 4}, 2, 2), tensor.Of([]float32{5, 6}, 1, 2)
	c, d := tensor.Of([]int64{7, 8}, 2), tensor.Of([]int64{9}, 1)
	got := joinRows([][]tensor.Tensor{{a, c}, {b, d}})
	if len(got) != 2 || !tensor.Equal(got[0], tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)) ||
		!tensor.Equal(got[1], tensor.Of([]int64{7, 8, 9}, 3)) {
		t.Errorf("%v", got)
	}
	if a.F32()[0] != 1 || len(a.Shape) != 2 || a.Shape[0] != 2 {
		t.Errorf("a part was changed: %v", a)
	}
	if got := joinRows(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
