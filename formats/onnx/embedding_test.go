package onnx

import (
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// embeddingOf returns a model that looks up rows of a table of 4 rows by integers of the
// given shape. The nodes in more follow.
func embeddingOf(batch int64, shape []int64, more ...*onnxpb.NodeProto) *onnxpb.ModelProto {
	table := floats("w", []int64{4, 2}, 1, 2, -3, 4, 5, -6, 7, 8)
	m := modelOf(13, batch, shape, nil, append(nodes{table, op("Gather", "w x", "y")}, more...)...)
	m.Graph.Input[0].Type.TensorType.ElemType = int32(onnxpb.TensorProto_INT64)
	return m
}

// TestEmbedding checks that integers of the input pick rows of a table, negative ones from
// its end, and that an integer without a row gives NaN.
func TestEmbedding(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		batch int64
		shape []int64
		x     []float32
		want  []float64
	}{
		{"a list", 0, []int64{3}, []float32{2, 0, 3}, []float64{5, -6, 1, 2, 7, 8}},
		{"a number", 0, nil, []float32{1}, []float64{-3, 4}},
		{"two axes", 0, []int64{2, 2}, []float32{3, 3, 0, 1}, []float64{7, 8, 7, 8, 1, 2, -3, 4}},
		{"a batch of one", 1, []int64{2}, []float32{1, 2}, []float64{-3, 4, 5, -6}},
		{"from the end", 0, []int64{3}, []float32{-1, -4, -3}, []float64{7, 8, 1, 2, -3, 4}},
		{"beyond", 0, []int64{4}, []float32{4, 0, -5, 1}, []float64{nan, nan, 1, 2, nan, nan, -3, 4}},
	} {
		f := readModel(t, embeddingOf(c.batch, c.shape))
		if f.NoModel != nil {
			t.Errorf("%s: %v", c.name, f.NoModel)
			continue
		}
		y, err := eval(f.Model, tensor.Of(c.x, append([]int{1}, f.Model.Input().Shape...)...))
		if err != nil {
			t.Fatal(err)
		}
		got := y[0].F64()
		for i, v := range got {
			if len(got) != len(c.want) || v != c.want[i] && !(math.IsNaN(v) && math.IsNaN(c.want[i])) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

// TestEmbeddingOfPlaces checks that indices computed by the file pick rows, too. The graph
// does not check them, because they are always within the table.
func TestEmbeddingOfPlaces(t *testing.T) {
	m := modelOf(13, 0, []int64{4}, nil, floats("w", []int64{4, 1}, 10, 11, 12, 13), ints("k", 2),
		op("TopK", "x k", "v i"), op("Gather", "w i", "y")) // x is 0, 1, 2, 3
	if got := evalCounting(t, m); len(got) != 2 || got[0] != 13 || got[1] != 12 {
		t.Errorf("got %v, want [13 12]", got)
	}
	if text := became(readModel(t, m)); strings.Contains(text, ".nan") || strings.Contains(text, ".below") {
		t.Errorf("places within the table are checked: %s", text)
	}
}

// TestNoEmbedding checks that tables are refused if a product with 0 and 1 does not give
// their exact rows.
func TestNoEmbedding(t *testing.T) {
	whole := modelOf(13, 0, []int64{2}, nil, ints("w", 1, 2), op("Gather", "w x", "y"))
	whole.Graph.Input[0].Type.TensorType.ElemType = int32(onnxpb.TensorProto_INT64)
	columns := embeddingOf(0, []int64{2})
	columns.Graph.Node[1].Attribute = settings{intAttr("axis", 1)}
	infinite := embeddingOf(0, []int64{2})
	infinite.Graph.Node[0].Attribute[0].T.FloatData[3] = float32(math.Inf(1))
	for want, m := range map[string]*onnxpb.ModelProto{
		"tables of floats are supported": whole,
		"along axis 1 of a table":        columns,
		"numbers that are not finite":    infinite,
		"the product of the two may be":  embeddingOf(0, []int64{1 << 25}),
	} {
		if got := became(readModel(t, m)); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
