package remote_test

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestReusedOutputs checks that new outputs use the memory of returned outputs, but never
// the memory of outputs still in use.
func TestReusedOutputs(t *testing.T) {
	p, err := graph.ParseProgram([]byte("bnctl program 1\nprogram \"relu\"\n\n" +
		"func predict(x rows f32[10000]) {\n  y = relu(x)\n  return y rows = y\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range levels {
		x := load(t, open(t, start(t, "ref", level)), p)
		run := func(v float32) tensor.Tensor {
			in := tensor.New(tensor.F32, 2, 10000)
			for i := range in.F32() {
				in.F32()[i] = v
			}
			o, err := x.Run(context.Background(), device.Step{Function: graph.Predict, Rows: []int{2},
				Inputs: []tensor.Tensor{in}})
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range o.Outputs[0].F32() {
				if y != v {
					t.Fatalf("%s: element %d is %g, want %g", level, i, y, v)
				}
			}
			return o.Outputs[0]
		}
		first, kept := run(1), run(2)
		x.(device.Reuser).Reuse([]tensor.Tensor{first})
		if third := run(3); &third.Bytes[0] != &first.Bytes[0] {
			t.Errorf("%s: outputs lie in new memory after others were given back", level)
		}
		if fourth := run(4); &fourth.Bytes[0] == &kept.Bytes[0] || &fourth.Bytes[0] == &first.Bytes[0] {
			t.Errorf("%s: outputs lie where those of the caller do", level)
		}
		if kept.F32()[5] != 2 {
			t.Errorf("%s: an output of the caller was changed", level)
		}
	}
}
