package formats

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// faceNet builds MiniFASNetV2 (pruned MobileFaceNet), reading the widths of
// its layers from the checkpoint.
type faceNet struct {
	*graph.Builder
	shapes map[string][]int
}

// unit makes a convolution, a batch norm and, unless linear, a PReLU.
func (n faceNet) unit(name string, x graph.Value, stride, pad int, linear bool) graph.Value {
	w := n.shapes[name+".conv.weight"]
	if w == nil {
		w = []int{1, 1, 1, 1} // the checkpoint lacks this layer: the test fails when the model is applied
	}
	groups := n.Type(x).Shape[0] / w[1]
	x = n.Op(graph.Conv, name+".conv",
		[]graph.Value{x, param(n.Builder, name+".conv.weight", graph.Weight, w...)},
		"stride", []int{stride, stride}, "pad", []int{pad, pad, pad, pad}, "groups", groups)
	x = n.norm(name+".bn", x)
	if linear {
		return x
	}
	return n.Op(graph.Prelu, name+".prelu",
		[]graph.Value{x, param(n.Builder, name+".prelu.weight", graph.Weight, w[0])})
}

func (n faceNet) norm(name string, x graph.Value) graph.Value {
	c := n.Type(x).Shape[0]
	return n.Op(graph.BatchNorm, name, []graph.Value{x, param(n.Builder, name+".weight", graph.Gamma, c),
		param(n.Builder, name+".bias", graph.Beta, c), param(n.Builder, name+".running_mean", graph.Mean, c),
		param(n.Builder, name+".running_var", graph.Variance, c)})
}

// separable makes a bottleneck of three convolutions: 1x1, depthwise 3x3, and 1x1.
func (n faceNet) separable(name string, x graph.Value, stride int) graph.Value {
	x = n.unit(name+".conv", x, 1, 0, false)
	x = n.unit(name+".conv_dw", x, stride, 1, false)
	return n.unit(name+".project", x, 1, 0, true)
}

func (n faceNet) residual(name string, x graph.Value, times int) graph.Value {
	for i := range times {
		block := fmt.Sprintf("%s.model.%d", name, i)
		x = n.Op(graph.Add, block, []graph.Value{x, n.separable(block, x, 1)})
	}
	return x
}

func (n faceNet) forward() {
	x := n.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3, 80, 80}})
	x = n.unit("conv2_dw", n.unit("conv1", x, 2, 1, false), 1, 1, false)
	x = n.residual("conv_3", n.separable("conv_23", x, 2), 4)
	x = n.residual("conv_4", n.separable("conv_34", x, 2), 6)
	x = n.residual("conv_5", n.separable("conv_45", x, 2), 2)
	x = n.unit("conv_6_dw", n.unit("conv_6_sep", x, 1, 0, false), 1, 0, true)
	x = n.Op(graph.Reshape, "flat", []graph.Value{x}, "shape", []int{512})
	x = n.norm("bn", n.Op(graph.Dense, "linear",
		[]graph.Value{x, param(n.Builder, "linear.weight", graph.Weight, 128, 512)}))
	n.Output("logits", n.Op(graph.Dense, "prob",
		[]graph.Value{x, param(n.Builder, "prob.weight", graph.Weight, 3, 128)}), false)
}

// TestMiniFASNet adds a graph, as a model file in text form, to a checkpoint.
func TestMiniFASNet(t *testing.T) {
	path := checkpoint(t, "pytorch/2.7_80x80_MiniFASNetV2.pth")
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, table := builder()
	n := faceNet{b, map[string][]int{}}
	for _, x := range f.Tensors {
		n.shapes[x.Name] = x.Shape
	}
	n.forward()
	main, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.ParseGraph((&graph.Graph{Name: "minifasnet", State: *table, Main: main}).Text())
	if err != nil {
		t.Fatal(err)
	}
	m, err := Template(f, &models.Model{Architecture: g.Name, Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	compareFaces(t, m, strings.TrimSuffix(path, ".pth")+".out.npy")
}

// compareFaces runs m on the input that INPUTS.md describes.
func compareFaces(t *testing.T, m *models.Model, golden string) {
	t.Helper()
	x := tensor.New(tensor.F64, 4, 3, 80, 80)
	for i := range x.F64() {
		x.F64()[i] = float64(float32(255 * float64(uint32(uint64(i)*2654435761)) / (1 << 32)))
	}
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		state[name] = doubled(s)
	}
	out, err := ref.Eval64(m.Graph.Main, state, []tensor.Tensor{x}, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want, err := data.ReadNPY(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.F32() {
		if d := math.Abs(out[0].F64()[i] - float64(v)); !(d <= 1e-5*max(1, math.Abs(float64(v)))) {
			t.Errorf("output %d is %g, want %g", i, out[0].F64()[i], v)
		}
	}
}
