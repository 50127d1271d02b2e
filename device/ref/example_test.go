package ref_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A device loads a program and runs its functions.
func Example() {
	var state []graph.State
	b := graph.NewBuilder(graph.Predict, &state)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3}})
	w := b.Declare(graph.State{Name: "w", DType: tensor.F32, Shape: []int{2, 3}, Role: graph.Weight})
	b.Output("y", b.Op(graph.Relu, "relu", []graph.Value{b.Op(graph.Dense, "dense", []graph.Value{x, w})}),
		false)
	f, err := b.Function()
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	d := ref.New("ref")
	defer d.Close()
	program := &graph.Program{Name: "example", State: state, Functions: []*graph.Function{f}}
	e, err := d.Load(ctx, program, device.Capacity{Rows: 4, Replicas: 2})
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Write(ctx, "w", tensor.Of([]float32{1, 0, -1, 0, 2, 0}, 2, 3)); err != nil {
		log.Fatal(err)
	}
	o, err := e.Run(ctx, device.Step{Function: graph.Predict, Rows: []int{1, 1}, // two replicas of one row each
		Inputs: []tensor.Tensor{tensor.Of([]float32{1, 2, 3, 5, 4, 3}, 2, 3)}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Outputs[0], o.Outputs[0].F32())
	// Output: f32[2,2] [0 4 2 8]
}
