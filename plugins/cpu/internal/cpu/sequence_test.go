package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// A norm of lines has the same bits for lines in the order of the shape and for lines
// stored channels last, like an image.
func TestLayerNormInAnyOrder(t *testing.T) {
	const side, rows = 12, 3
	ctx, r := context.Background(), rand.New(rand.NewPCG(5, 12))
	one := tensor.New(tensor.F32, side, side)
	for i := range side {
		one.F32()[i*side+i] = 1
	}
	x := randomTensor(r, tensor.F32, []int{rows, 37, 6, side})
	for _, axes := range []string{"[0]", "[1]", "[2]", "[0,1]", "[1,2]", "[0,1,2]"} {
		p := program(t, opCase{axes, "state one f32[12,12] constant\n", "x rows f32[37,6,12]",
			"  a = max_pool(x, kernel=[1,1], stride=[1,1])\n  n = layer_norm(a, axes=" + axes + ")\n" +
				"  g = layer_norm_grad(n, x, axes=" + axes + ")\n  y = max_pool(g, kernel=[1,1], stride=[1,1])\n" +
				"  b = dense(x, @one, leading=2)\n  m = layer_norm(b, axes=" + axes + ")\n" +
				"  h = layer_norm_grad(m, b, axes=" + axes + ")\n  z = dense(h, @one, leading=2)\n"})
		for _, set := range kernel.Sets() {
			e, err := openSet(t, set.Name, 2).Load(ctx, p, device.Capacity{Rows: rows, Replicas: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Write(ctx, "one", one); err != nil {
				t.Fatal(err)
			}
			out, err := e.Run(ctx, device.Step{Function: "predict", Rows: []int{rows}, Inputs: []tensor.Tensor{x}})
			if err != nil {
				t.Fatal(err)
			}
			if !tensor.Equal(out.Outputs[0], out.Outputs[1]) {
				t.Errorf("%s, axes %s: other bits in the order of the shape", set.Name, axes)
			}
			e.Close()
		}
	}
}
