package graph_test

import (
	"reflect"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestZoo runs checks, text form, eval and gradient on every architecture.
func TestZoo(t *testing.T) {
	for _, a := range models.Architectures() {
		t.Run(a.Name, func(t *testing.T) {
			g := must(models.Build(a.Name, models.Options{}))(t).Graph
			if err := g.Check(); err != nil {
				t.Fatal(err)
			}
			again, err := graph.ParseGraph(g.Text())
			if err != nil || !reflect.DeepEqual(again, g) {
				t.Errorf("parsed again: %v, another graph", err)
			}
			eval := must(graph.Eval(g.Main, g.State))(t)
			if err := eval.Check(g.State); err != nil {
				t.Error(err)
			}
			if want := g.Main.TotalCost().RowFlops; eval.TotalCost().RowFlops > want || want == 0 {
				t.Errorf("eval costs %g, the graph %g", eval.TotalCost().RowFlops, want)
			}
			differentiateAll(t, eval, g.State)
		})
	}
}

// TestZooCost compares with the multiply-adds that torchvision lists, and for resnet20 with
// a count by hand.
func TestZooCost(t *testing.T) {
	const resnet20 = 3*16*9*1024 + 6*16*16*9*1024 + (16*32+5*32*32)*9*256 + (32*64+5*64*64)*9*64 + 640
	for name, want := range map[string]float64{"resnet20": resnet20, "resnet18": 1.81e9, "resnet50": 4.09e9,
		"resnet101": 7.80e9, "resnet152": 11.51e9, "resnet50-v1": 3.857e9, "resnet101-v1": 7.57e9, "resnet152-v1": 11.28e9,
		"mobilenetv2": 0.30e9, "vgg16-bn": 15.47e9} {
		m := must(models.Build(name, models.Options{}))(t)
		got := m.Graph.Main.TotalCost().RowFlops / 2
		if got < want || got > 1.06*want { // additions, norms and activations are counted in addition
			t.Errorf("%s: got %g multiply-adds per image, want %g or little more", name, got, want)
		}
	}
}

// differentiateAll checks that every trained tensor has a gradient of its shape.
func differentiateAll(t *testing.T, f *graph.Function, table []graph.State) {
	b := graph.Extend(f, &table)
	logits := f.Values[f.Outputs[0].Value].Type.Shape // the shape has one label, or one for each pixel
	labels := b.Input("labels", graph.Type{Kind: graph.Rows, DType: tensor.I32, Shape: logits[1:]})
	inverse := b.Input("inverse", graph.Type{Kind: graph.Whole, DType: tensor.F32})
	loss := b.Op(graph.SoftmaxXent, "loss", []value{f.Outputs[0].Value, labels})
	var wrt []value
	for _, s := range table {
		if s.Role.Trained() {
			wrt = append(wrt, b.Read(s.Name))
		}
	}
	grads, err := graph.Gradient(b, map[value]value{loss: inverse}, wrt)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range wrt {
		got, want := b.Type(grads[v]), b.Type(v)
		if got.Kind == graph.Rows || !reflect.DeepEqual(got.Shape, want.Shape) {
			t.Errorf("the gradient of %v is %v", want, got)
		}
	}
}
