package train

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/tensor"
	"testing"
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

// Pictures are scaled to the input of the model, arrays are unchanged.
func TestTransformOfData(t *testing.T) {
	pixels, table := written(t, pixelGraph), written(t, tableGraph)
	pictures := data.Info{Kind: "pictures", DType: tensor.U8}
	arrays := data.Info{Kind: "npy", DType: tensor.F32, Shape: []int{4, 5, 3}}
	if !pictures.Pictures() || arrays.Pictures() {
		t.Fatal("the test shows nothing")
	}
	if got := fit.Transform(pixels, pictures); got.Height != 4 || got.Width != 5 || got.Channels != 3 {
		t.Errorf("pictures: %+v", got)
	}
	for _, c := range []struct {
		m    *models.Model
		info data.Info
	}{{pixels, arrays}, {table, pictures}, {table, arrays}} {
		if got := fit.Transform(c.m, c.info); got.Height != 0 || got.Resize != 0 {
			t.Errorf("%s of %s: %+v", c.m.Architecture, c.info.Kind, got)
		}
	}
}
