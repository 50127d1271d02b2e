package lifecycle_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// shifter is a device that has one operation: it adds a state tensor to each row.
type shifter struct{}

// Load implements lifecycle.Backend.
func (shifter) Load(p *graph.Program, _ device.Capacity) (lifecycle.Runner, error) {
	refused := &device.Refused{}
	for _, f := range p.Functions {
		for i, n := range f.Nodes {
			if n.Op != graph.Add {
				refused.Nodes = append(refused.Nodes, device.Refusal{Function: f.Name, Node: f.NodeName(&f.Nodes[i]),
					Op: n.Op, Why: "it only adds"})
			}
		}
	}
	if len(refused.Nodes) > 0 {
		return nil, refused
	}
	return lifecycle.NewHostRunner(p, shift), nil
}

func shift(_ context.Context, s lifecycle.Step, state map[string]tensor.Tensor) (lifecycle.Result, error) {
	y, by := s.Inputs[0].Clone(), state["by"].F32()
	for i := range y.F32() {
		y.F32()[i] += by[i%len(by)]
	}
	return lifecycle.Result{Outputs: []tensor.Tensor{y}}, nil
}

// The author of a device writes Load, and a function that runs the loaded program.
func ExampleNew() {
	d := lifecycle.New(func() device.Info { return device.Info{Name: "shifter"} }, shifter{})
	defer d.Close()
	for _, op := range []string{"add", "mul"} {
		p, err := graph.ParseProgram([]byte("bnctl program 1\nprogram \"shift\"\n\nstate by f32[2] constant\n\n" +
			"func predict(x rows f32[2]) {\n  y = " + op + "(x, @by)\n  return y rows = y\n}\n"))
		if err != nil {
			log.Fatal(err)
		}
		x, err := d.Load(context.Background(), p, device.Capacity{Rows: 2, Replicas: 1})
		if err != nil {
			fmt.Println(err)
			continue
		}
		if err := x.Write(context.Background(), "by", tensor.Of([]float32{1, 2}, 2)); err != nil {
			log.Fatal(err)
		}
		o, err := x.Run(context.Background(), device.Step{Function: graph.Predict, Rows: []int{2},
			Inputs: []tensor.Tensor{tensor.Of([]float32{10, 20, 30, 40}, 2, 2)}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(o.Outputs[0].F32())
	}
	// Output:
	// [11 22 31 42]
	// shifter: Load: unsupported: cannot run y in predict (mul: it only adds)
}
