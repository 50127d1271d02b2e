package library_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

func Example_ownModel() {
	// Build a convolution, a batch norm and a head, node by node. The names follow PyTorch.
	g := &graph.Graph{Name: "tiny"}
	b := graph.NewBuilder("main", &g.State)
	state := func(name string, r graph.Role, rule string, shape ...int) graph.Value {
		s := graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: r, Init: graph.Init{Rule: rule}}
		if rule == "he_normal" {
			s.Init.Args = []float64{0} // the standard deviation is computed from the fan-in
		}
		return b.Declare(s)
	}
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.U8, Shape: []int{28, 28, 1}})
	x = b.Op(graph.Image, "image", []graph.Value{x}, "mean", []float64{0.13}, "std", []float64{0.31})
	x = b.Op(graph.Conv, "conv", []graph.Value{x, state("conv.weight", graph.Weight, "he_normal", 4, 1, 3, 3)},
		"stride", []int{4, 4})
	x = b.Op(graph.BatchNorm, "bn", []graph.Value{x, state("bn.weight", graph.Gamma, "ones", 4),
		state("bn.bias", graph.Beta, "zeros", 4), state("bn.running_mean", graph.Mean, "zeros", 4),
		state("bn.running_var", graph.Variance, "ones", 4)})
	x = b.Op(graph.Reshape, "flat", []graph.Value{b.Op(graph.Relu, "relu", []graph.Value{x})},
		"shape", []int{4 * 7 * 7})
	x = b.Op(graph.Dense, "fc", []graph.Value{x, state("fc.weight", graph.Weight, "he_normal", 10, 4*7*7),
		state("fc.bias", graph.Bias, "zeros", 10)})
	b.Output("logits", x, false)
	var err error
	g.Main, err = b.Function()
	check(err)
	m, err := models.New(g)
	check(err)
	check(models.Init(m, 1))

	src, err := data.Open(context.Background(), "glyphs:256", data.Options{})
	check(err)
	defer src.Close()
	f, err := fleet.Open(context.Background(), fleet.Options{})
	check(err)
	defer f.Close()
	r := recipe.Default("tiny")
	r.SetModel(m)
	check(r.SetData(context.Background(), src, nil))
	s, err := train.New(context.Background(), r, m, train.Config{Train: src, Fleet: f})
	check(err)
	defer s.Close()
	template, err := s.Run(context.Background())
	check(err)
	fmt.Println(template.Architecture, "with", template.Summary().Parameters, "parameters")
	// Output:
	// tiny with 2014 parameters
}
