package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// aroundLeast fills images with values near the smallest that tiles accept. A tile is even if it is precise
// enough to be computed as a Winograd tile. Some whole images, columns and rows are just below the limit,
// and the others are above it. So every block of tiles is even as a whole, but some of its tiles are not
// even by themselves.
func aroundLeast(r *rand.Rand, n, channels, high, wide int) tensor.Tensor {
	x := tensor.New(tensor.F32, n, channels, high, wide)
	for i := range x.F32() {
		image, row, column := i/(channels*high*wide), i/wide%high, i%wide
		size := 1.1 + 0.1*r.Float32()
		if image%4 == 0 || image%4 == 1 && column < wide/2 || image%4 == 2 && row >= high/2 {
			size -= 0.3
		}
		x.F32()[i] = size * 0x1p-50 * float32(1-2*r.IntN(2))
	}
	return x
}

// TestTilesNearLeastSameBits checks that only the tile itself determines whether windows compute it, and
// not its neighbours in the block, the images before and after it, or the threads. This holds for the
// forward pass and for both gradients.
func TestTilesNearLeastSameBits(t *testing.T) {
	const rows = 5
	r := rand.New(rand.NewPCG(20, 20))
	for _, g := range []struct{ in, out, high, wide, dilation int }{
		{32, 48, 8, 12, 1},   // few tiles: workers share the panels
		{32, 32, 24, 20, 1},  // some rows of tiles at a time
		{32, 32, 23, 22, 1},  // tiles that reach beyond the image
		{256, 256, 24, 8, 1}, // heavy weights: blocks contain several images
		{32, 48, 8, 8, 2},    // few tiles in all phases
		{32, 32, 24, 20, 2},
		{32, 32, 23, 22, 3},
		{256, 256, 25, 8, 2},
	} {
		window := fmt.Sprintf("pad=[%[1]d,%[1]d,%[1]d,%[1]d], dilation=[%[1]d,%[1]d]", g.dilation)
		x, dy := aroundLeast(r, rows, g.in, g.high, g.wide), aroundLeast(r, rows, g.out, g.high, g.wide)
		for _, c := range []struct {
			opCase
			inputs []tensor.Tensor
			whole  bool // the result is one value for all rows together
		}{
			{opCase{"forward", fmt.Sprintf("state w f32[%d,%d,3,3] constant\n", g.out, g.in),
				fmt.Sprintf("x rows f32[%d,%d,%d]", g.in, g.high, g.wide),
				"  y = conv(x, @w, " + window + ")\n"}, []tensor.Tensor{x}, false},
			{opCase{"gradient of the input", fmt.Sprintf("state w f32[%d,%d,3,3] constant\n", g.out, g.in),
				fmt.Sprintf("dy rows f32[%d,%d,%d]", g.out, g.high, g.wide),
				fmt.Sprintf("  y = conv_grad_input(dy, @w, %s, size=[%d,%d])\n", window, g.high, g.wide)},
				[]tensor.Tensor{dy}, false},
			{opCase{"gradient of the weights", "", fmt.Sprintf("x rows f32[%d,%d,%d], dy rows f32[%d,%d,%d]",
				g.in, g.high, g.wide, g.out, g.high, g.wide),
				"  y = conv_grad_weight(x, dy, " + window + ", kernel=[3,3])\n"}, []tensor.Tensor{x, dy}, true},
		} {
			t.Run(fmt.Sprintf("%v %s", g, c.name), func(t *testing.T) {
				bits := map[string]tensor.Tensor{}
				for _, set := range kernel.Sets() {
					if g.in > 64 && !set.Fused() { // slow
						continue
					}
					for _, threads := range []int{1, 2, 3} {
						near := newNearLeast(t, openSet(t, set.Name, threads), c.opCase, c.inputs)
						together := near.run(t, 0, rows)
						if want, ok := bits[set.Class]; ok && !tensor.Equal(together, want) {
							t.Errorf("%s, %d threads: other bits than class %s before", set.Name, threads, set.Class)
						}
						bits[set.Class] = together
						for i := 0; i < rows && !c.whole; i++ {
							if !tensor.Equal(near.run(t, i, i+1), together.Rows(i, i+1)) {
								t.Errorf("%s, %d threads: image %d has other bits alone", set.Name, threads, i)
							}
						}
					}
				}
				if g.in > 64 { // slow in ref
					return
				}
				want := newNearLeast(t, ref.New("ref"), c.opCase, c.inputs).run(t, 0, rows)
				for class, got := range bits {
					if d := relative(got, want); !(d < 1e-5) {
						t.Errorf("class %s differs from ref by %.2g of the largest", class, d)
					}
				}
			})
		}
	}
}

// relative returns the largest difference between a and b, relative to the largest size in b.
func relative(a, b tensor.Tensor) float64 {
	x, y, worst, largest := numbers(a), numbers(b), 0.0, 0.0
	for i := range x {
		largest = max(largest, math.Abs(y[i]))
		worst = max(worst, math.Abs(x[i]-y[i]))
	}
	return worst / largest
}

// nearLeast is a loaded case and its inputs.
type nearLeast struct {
	device.Executable
	function string
	inputs   []tensor.Tensor
}

func newNearLeast(t *testing.T, d device.Device, c opCase, inputs []tensor.Tensor) *nearLeast {
	t.Helper()
	ctx, p := context.Background(), program(t, c)
	e, err := d.Load(ctx, p, device.Capacity{Rows: inputs[0].Shape[0], Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	r := rand.New(rand.NewPCG(21, 21))
	for _, s := range p.State {
		if err := e.Write(ctx, s.Name, randomTensor(r, s.DType, s.Shape)); err != nil {
			t.Fatal(err)
		}
	}
	return &nearLeast{e, p.Functions[0].Name, inputs}
}

// run returns the result for rows [from, to) as one replica.
func (n *nearLeast) run(t *testing.T, from, to int) tensor.Tensor {
	t.Helper()
	step := device.Step{Function: n.function, Rows: []int{to - from}}
	for _, in := range n.inputs {
		step.Inputs = append(step.Inputs, in.Rows(from, to))
	}
	out, err := n.Run(context.Background(), step)
	if err != nil {
		t.Fatal(err)
	}
	return out.Outputs[0]
}
