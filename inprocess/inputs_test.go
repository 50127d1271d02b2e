package inprocess_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestSeveralInputs checks that a model with several inputs accepts the rows of each input, in the order
// of Inputs, with any batch size.
func TestSeveralInputs(t *testing.T) {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "difference"

func main(inputs rows f32[3]) {
  a = slice(inputs, begin=[0], end=[2])
  b = slice(inputs, begin=[2], end=[3])
  y = sub(a, b)
  return y rows = y
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	m.Fields = []models.Field{{Name: "a", DType: tensor.F32, Shape: []int{2}}, {Name: "b", DType: tensor.I64}}
	for _, batch := range []int{1, 2, 8} {
		p := open(t, m, inprocess.Options{Batch: batch})
		if in := p.Inputs(); len(in) != 2 || in[0].Name != "a" || in[1].Name != "b" {
			t.Errorf("inputs %v", in)
		}
		a, b := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), tensor.Of([]int64{1, -1, 10}, 3)
		got, err := p.Run(t.Context(), a, b)
		if err != nil || !slices.Equal(got[0].F32(), []float32{0, 1, 4, 5, -5, -4}) {
			t.Errorf("batch %d: %v, %v", batch, got, err)
		}
		for _, c := range []struct {
			inputs []tensor.Tensor
			want   string
		}{
			{[]tensor.Tensor{a}, "1 input"},
			{[]tensor.Tensor{b, a}, `input "a" is i64`},
			{[]tensor.Tensor{a, b.Rows(0, 2)}, "2 rows"},
		} {
			if _, err := p.Run(t.Context(), c.inputs...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %q", c.inputs, err, c.want)
			}
		}
	}
}
