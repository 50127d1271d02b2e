package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// aroundLeast fills images whose values all lie near the least that tiles take:
// some whole images, columns and rows are just below it, the others above, so that
// every block of tiles is even as a whole but some of its tiles are not alone.
func aroundLeast(r *rand.Rand, n, channels, high, wide int) tensor.Tensor {
	x := tensor.New(tensor.F32, n, channels, high, wide)
	for i := range x.F32() {
		image, row, column := i/(channels*high*wide), i/wide%high, i%wide
		size := 1.1 + 0.1*r.Float32()
		if image%4 == 0 || image%4 == 1 && column < wide/2 || image%4 == 2 && row >= high/2 {
			size -= 0.3
		}
		x.F32()[i] = size * tileLeast * float32(1-2*r.IntN(2))
	}
	return x
}

// Whether a tile is computed by windows depends on that tile alone: not on its
// neighbours in the block, the images before and behind it, or the threads; and
// neither forward nor for either gradient.
func TestTilesNearLeastSameBits(t *testing.T) {
	const rows = 5
	r := rand.New(rand.NewPCG(20, 20))
	for _, g := range []struct{ in, out, high, wide int }{
		{32, 48, 8, 12},   // few tiles: workers share its panels
		{32, 32, 24, 20},  // some rows of tiles at a time
		{32, 32, 23, 22},  // tiles that reach beyond the image
		{256, 256, 24, 8}, // heavy weights: blocks reach over images
	} {
		x, dy := aroundLeast(r, rows, g.in, g.high, g.wide), aroundLeast(r, rows, g.out, g.high, g.wide)
		for _, c := range []struct {
			opCase
			inputs []tensor.Tensor
			whole  bool // the result is of all rows together
		}{
			{opCase{"forward", fmt.Sprintf("state w f32[%d,%d,3,3] constant\n", g.out, g.in),
				fmt.Sprintf("x rows f32[%d,%d,%d]", g.in, g.high, g.wide),
				"  y = conv(x, @w, pad=[1,1,1,1])\n"}, []tensor.Tensor{x}, false},
			{opCase{"gradient of the input", fmt.Sprintf("state w f32[%d,%d,3,3] constant\n", g.out, g.in),
				fmt.Sprintf("dy rows f32[%d,%d,%d]", g.out, g.high, g.wide),
				fmt.Sprintf("  y = conv_grad_input(dy, @w, pad=[1,1,1,1], size=[%d,%d])\n", g.high, g.wide)},
				[]tensor.Tensor{dy}, false},
			{opCase{"gradient of the weights", "", fmt.Sprintf("x rows f32[%d,%d,%d], dy rows f32[%d,%d,%d]",
				g.in, g.high, g.wide, g.out, g.high, g.wide),
				"  y = conv_grad_weight(x, dy, pad=[1,1,1,1], kernel=[3,3])\n"}, []tensor.Tensor{x, dy}, true},
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

// relative is difference for values of any size.
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

// The suspects of any rows of tiles are the tiles that the definition, which
// looks at one tile, finds.
func TestSuspectsOfOneTile(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	for _, side := range []int{2, 4} {
		for _, size := range [][2]int{{8, 12}, {9, 11}, {24, 20}, {23, 22}} {
			images := aroundLeast(r, 6, 32, size[0], size[1])
			for image := range 6 {
				x := pixels(images.Rows(image, image+1))
				if image == 5 { // some tiles are 0, one holds a value that outweighs the others
					clear(x[:len(x)/3])
					x[len(x)-100] = 1
				}
				for _, kernels := range append(kernel.Sets(), kernel.Generic) {
					k := tilesOf(kernels, side, 32, size[0], size[1])
					want := k.suspectsOf(x)
					for from := range k.rows {
						for to := from + 1; to <= k.rows; to++ {
							k.suspects = k.suspects[:0]
							k.padded(x, from, to)
							k.inspect(from, to, from*k.columns)
							got, within := k.suspects, []int{}
							for _, tile := range want {
								if tile >= from*k.columns && tile < to*k.columns {
									within = append(within, tile)
								}
							}
							if !slices.Equal(got, within) && len(got)+len(within) > 0 {
								t.Errorf("%s, side %d, image %d of %v, rows [%d, %d): suspects %v, want %v", kernels.Name, side,
									image, size, from, to, got, within)
							}
						}
					}
				}
			}
		}
	}
}

// pixels returns an image as kernels read it, (H, W, C).
func pixels(x tensor.Tensor) []float32 {
	channels, place := x.Shape[1], x.Shape[2]*x.Shape[3]
	out := make([]float32, len(x.F32()))
	for i, v := range x.F32() {
		out[i%place*channels+i/place] = v
	}
	return out
}

// tilesOf returns tiles that can be inspected.
func tilesOf(kernels *kernel.Set, side, channels, high, wide int) *tiles {
	g := kernel.Winograd{Side: side, In: channels, Out: channels}
	k := &winograd{conv: &conv{h: high, w: wide, c: channels}, Winograd: g, rows: (high + side - 1) / side,
		columns: (wide + side - 1) / side}
	return &tiles{winograd: k, frame: &frame{exe: &Executable{device: &Device{kernels: kernels}}}}
}

// padded fills the strip.
func (t *tiles) padded(x []float32, from, to int) {
	t.strip = make([]float32, ((to-from)*t.Side+2)*t.stripStep())
	t.pad(tileOperands{in: stored{wide: x}}.in, from, to)
}

// suspectsOf returns the suspects of an image: the definition.
func (t *tiles) suspectsOf(x []float32) (suspects []int) {
	per, wide, high := t.Side/2, t.w/2+1, t.h/2+1
	for tile := range t.rows * t.columns {
		largest, low := 0.0, math.Inf(1)
		for by := tile / t.columns * per; by < min(tile/t.columns*per+per+1, high); by++ {
			for bx := tile % t.columns * per; bx < min(tile%t.columns*per+per+1, wide); bx++ {
				sum := 0.0
				for i := range 4 * t.c {
					y, column := blockOf(by, t.h)+i/(2*t.c), blockOf(bx, t.w)+i/t.c%2
					v := math.Abs(float64(x[(y*t.w+column)*t.c+i%t.c]))
					sum, largest = sum+v, max(largest, v)
				}
				low = min(low, sum)
			}
		}
		if largest > 0 && !(largest >= tileLeast && largest <= tileMost && low >= largest) {
			suspects = append(suspects, tile)
		}
	}
	return suspects
}
