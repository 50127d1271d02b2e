package formats

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

const lines = `bnctl graph 1
graph "lines"
state c.weight f32[2,4,1,3] weight ones
state d.weight f32[2,2,1,1] weight ones
func main(x rows f32[4,8]) {
  i = reshape(x, shape=[4,1,8])
  c = conv(i, @c.weight, pad=[0,1,0,1])
  y = conv(c, @d.weight)
  return y rows = y
}
`

// TestKernelsOfLines checks that kernels of 1-D convolutions are written and read as
// [O,I,K], PyTorch's shape. A 2-D convolution with a kernel of height one keeps its shape.
func TestKernelsOfLines(t *testing.T) {
	g, err := graph.ParseGraph([]byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 0); err != nil {
		t.Fatal(err)
	}
	m.State["c.weight"].F32()[5] = 7
	out := Tensors(m)
	if !slices.Equal(out[0].Shape, []int{2, 4, 3}) || !slices.Equal(out[1].Shape, []int{2, 2, 1, 1}) {
		t.Fatalf("%v, %v; want [2 4 3] and [2 2 1 1]", out[0].Shape, out[1].Shape)
	}
	f := &File{Format: "pytorch zip", Tensors: out}
	state, err := State(f, m)
	if err != nil || !tensor.Equal(state["c.weight"], m.State["c.weight"]) {
		t.Errorf("--init: %v, %v", state["c.weight"], err)
	}
	back, err := Template(f, m)
	if err != nil || !tensor.Equal(back.State["c.weight"], m.State["c.weight"]) {
		t.Errorf("--arch: %v", err)
	}
}
