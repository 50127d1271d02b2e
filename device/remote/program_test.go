package remote_test

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// regression returns a program that trains y = dense(x). It passes values of every kind to and
// from a device: inputs and outputs of kinds rows, replica and whole, exchanges, kept outputs,
// state and hyper-parameters.
func regression(t testing.TB) *graph.Program {
	t.Helper()
	p := &graph.Program{Name: "regression"}
	add := func(name string, build func(b *graph.Builder)) {
		b := graph.NewBuilder(name, &p.State)
		build(b)
		f, err := b.Function()
		if err != nil {
			t.Fatal(err)
		}
		p.Functions = append(p.Functions, f)
	}
	weight := graph.State{Name: "w", DType: tensor.F32, Shape: []int{2, 3}, Role: graph.Weight}
	velocity := graph.State{Name: "v", DType: tensor.F32, Shape: []int{2, 3}, Role: graph.Optimizer}
	rows := func(shape ...int) graph.Type {
		return graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: shape}
	}
	add(graph.Train, func(b *graph.Builder) {
		x, dy := b.Input("x", rows(3)), b.Input("dy", rows(2))
		y := b.Op(graph.Dense, "y", []graph.Value{x, b.Declare(weight)})
		b.Declare(velocity)
		m := b.Op(graph.Moments, "m", []graph.Value{y})
		all := b.Op(graph.AllReduce, "m.all", []graph.Value{m}, "of", "moments")
		dw := b.Op(graph.DenseGradWeight, "dw", []graph.Value{x, dy})
		whole := b.Op(graph.AllReduce, "dw.all", []graph.Value{dw})
		b.Output("y", y, false)
		b.Output("m", m, false)
		b.Output("m.all", all, false)
		b.Output("dw", whole, true)
	})
	add(graph.Commit, func(b *graph.Builder) {
		dw := b.Input("dw", graph.Type{Kind: graph.Whole, DType: tensor.F32, Shape: []int{2, 3}})
		lr := b.Input("lr", graph.Type{Kind: graph.Whole, DType: tensor.F32})
		w, v := b.Read("w"), b.Read("v")
		out := b.Node(graph.SGD, "sgd", graph.Attrs{}.With("momentum", 0.5), w, dw, v, lr)
		if len(out) == 2 {
			b.Update("w", out[0])
			b.Update("v", out[1])
		}
	})
	add("nothing", func(b *graph.Builder) {})
	return p
}

// load loads the program for up to 64 rows in 8 replicas.
func load(t testing.TB, d device.Device, p *graph.Program) device.Executable {
	t.Helper()
	x, err := d.Load(context.Background(), p, device.Capacity{Rows: 64, Replicas: 8})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// step returns a step with the given number, and the given rows of each replica.
func step(number uint64, rows ...int) device.Step {
	n := 0
	for _, r := range rows {
		n += r
	}
	x, dy := tensor.New(tensor.F32, n, 3), tensor.New(tensor.F32, n, 2)
	for i := range x.F32() {
		x.F32()[i] = float32(i%7) - 2.5
	}
	for i := range dy.F32() {
		dy.F32()[i] = float32(i%5) * 0.25
	}
	return device.Step{Function: graph.Train, Number: number, Rows: rows, Inputs: []tensor.Tensor{x, dy}}
}
