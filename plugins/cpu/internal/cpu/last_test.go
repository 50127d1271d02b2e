package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// heavyChain is a chain of convolutions with so many weights that they are not read again for every row:
// convolutions of 1 by 1, and by Winograd tiles of two sizes.
var heavyChain = opCase{"chain",
	"state a f32[512,256,1,1] constant\nstate b f32[512,512,3,3] constant\n" +
		"state c f32[128,512,1,1] constant\nstate d f32[128,128,3,3] constant\n",
	"x rows f32[256,7,7]",
	"  p = conv(x, @a)\n  q = conv(p, @b, pad=[1,1,1,1])\n  r = conv(q, @c)\n" +
		"  y = conv(r, @d, pad=[1,1,1,1])\n"}

// heavyDense has weights that a last run packs a panel at a time. The last panel has only 24 of 64 columns.
var heavyDense = opCase{"dense",
	"state a f32[1176,1300] constant\nstate b f32[1176] constant\nstate c f32[10,1176] constant\n",
	"x rows f32[1300]",
	"  p = dense(x, @a, @b)\n  q = relu(p)\n  y = dense(q, @c)\n"}

// TestLastRunsSameBits checks last runs, which pack weights in the memory of the previous layer's weights,
// or not at all. They must have the same bits as other runs, also after the weights have changed.
func TestLastRunsSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	lastRunsSameBits(t, heavyChain, randomTensor(r, tensor.F32, []int{3, 256, 7, 7}))
	for _, rows := range []int{1, 48, 101} {
		lastRunsSameBits(t, heavyDense, randomTensor(r, tensor.F32, []int{rows, 1300}))
	}
}

func lastRunsSameBits(t *testing.T, c opCase, x tensor.Tensor) {
	ctx, r := context.Background(), rand.New(rand.NewPCG(11, 7))
	p, rows := program(t, c), x.Shape[0]
	versions := make([]map[string]tensor.Tensor, 2)
	for i := range versions {
		versions[i] = map[string]tensor.Tensor{}
		for _, s := range p.State {
			versions[i][s.Name] = randomTensor(r, s.DType, s.Shape)
		}
	}
	for _, set := range kernel.Sets() {
		if !set.Fused() { // slow
			continue
		}
		for _, threads := range []int{1, 2} {
			d := openSet(t, set.Name, threads)
			var want []tensor.Tensor
			for _, last := range []bool{false, true} {
				e, err := d.Load(ctx, p, device.Capacity{Rows: rows, Replicas: 1})
				if err != nil {
					t.Fatal(err)
				}
				for i, version := range versions {
					for name, w := range version {
						if err := e.Write(ctx, name, w); err != nil {
							t.Fatal(err)
						}
					}
					for _, l := range []bool{last, !last, last} {
						o, err := e.Run(ctx, device.Step{Function: "predict", Rows: []int{rows}, Inputs: []tensor.Tensor{x},
							Last: l})
						if err != nil {
							t.Fatal(err)
						}
						if len(want) == i {
							want = append(want, o.Outputs[0])
						}
						if !tensor.Equal(o.Outputs[0], want[i]) {
							t.Errorf("%s, %s, %d threads, %d rows, weights %d: last %v has other bits", c.name, set.Name, threads, rows, i, l)
						}
					}
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
