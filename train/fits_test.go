package train

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// written returns the model of a graph in text form.
func written(t *testing.T, text string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const tableGraph = `bnctl graph 1
graph "table"

state fc.weight f32[3,4] weight he_normal(0)

func main(x rows f32[4]) {
  fc = dense(x, @fc.weight)
  return logits rows = fc
}
`

const pixelGraph = `bnctl graph 1
graph "pixels"

state conv.weight f32[2,3,3,3] weight he_normal(0)
state bn.weight f32[2] gamma ones
state bn.bias f32[2] beta zeros
state bn.running_mean f32[2] mean zeros
state bn.running_var f32[2] variance ones

func main(x rows u8[4,5,3]) {
  image = image(x)
  conv = conv(image, @conv.weight, pad=[1,1,1,1])
  bn = batch_norm(conv, @bn.weight, @bn.bias, @bn.running_mean, @bn.running_var)
  return scores rows = bn
}
`

func TestFits(t *testing.T) {
	table, pixels := written(t, tableGraph), written(t, pixelGraph)
	info := func(d tensor.DType, shape, label []int, classes int) data.Info {
		return data.Info{Kind: "npy", Len: 1, DType: d, Shape: shape, Labelled: true, LabelShape: label,
			Classes: make([]string, classes)}
	}
	unlabelled := info(tensor.F32, []int{4}, nil, 0)
	unlabelled.Labelled = false
	for _, c := range []struct {
		model *models.Model
		info  data.Info
		err   string
	}{
		{table, info(tensor.F32, []int{4}, nil, 3), ""},
		{table, info(tensor.F32, []int{4}, nil, 2), ""},
		{table, unlabelled, "no labels"},
		{table, info(tensor.F32, []int{5}, nil, 3), "takes f32[4], a sample of npy is f32[5]"},
		{table, info(tensor.U8, []int{4, 4, 3}, nil, 3), "takes arrays f32[4]"},
		{table, info(tensor.F32, []int{4}, nil, 4),
			"has 4 classes, model table tells 3 apart; make a new head with classes 4"},
		{table, info(tensor.F32, []int{4}, []int{2}, 3), "a label has to be i32[], those of npy are i32[2]"},
		{pixels, info(tensor.U8, []int{9, 9, 1}, []int{4, 5}, 2), ""},
		{pixels, info(tensor.U8, []int{9, 9, 1}, nil, 2), "a label has to be i32[4,5], those of npy are i32[]"},
	} {
		err := fits("data", c.model, c.info)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("model %s, %+v: error %v, want %q", c.model.Architecture, c.info, err, c.err)
		}
	}
}
