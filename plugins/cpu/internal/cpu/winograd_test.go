package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/tensor"
)

// convolved returns the convolution, with a dilation, of images x with the kernels w on
// a device.
func convolved(t *testing.T, d device.Device, x, w tensor.Tensor, dilation int) tensor.Tensor {
	t.Helper()
	ctx, c, side := context.Background(), x.Shape, w.Shape[2]
	pad := side / 2 * dilation
	p := program(t, opCase{inputs: fmt.Sprintf("x rows f32[%d,%d,%d]", c[1], c[2], c[3]),
		state: fmt.Sprintf("state w f32[%d,%d,%d,%d] constant\n", w.Shape[0], w.Shape[1], side, side),
		body: fmt.Sprintf("  y = conv(x, @w, pad=[%d,%d,%d,%d], dilation=[%d,%d])\n", pad, pad, pad, pad, dilation,
			dilation)})
	e, err := d.Load(ctx, p, device.Capacity{Rows: c[0], Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Write(ctx, "w", w); err != nil {
		t.Fatal(err)
	}
	out, err := e.Run(ctx, device.Step{Function: p.Functions[0].Name, Rows: []int{c[0]},
		Inputs: []tensor.Tensor{x}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Outputs[0]
}

// sizes returns the absolute values of x.
func sizes(x tensor.Tensor) tensor.Tensor {
	x = x.Clone()
	for i, v := range x.F32() {
		x.F32()[i] = max(v, -v)
	}
	return x
}

// One input value that is much larger than the others changes only outputs that read it. Other outputs keep
// their precision, wherever the value is.
func TestTilesApart(t *testing.T) {
	for _, dilation := range []int{1, 2} {
		t.Run(fmt.Sprint("dilation ", dilation), func(t *testing.T) { tilesApart(t, dilation) })
	}
}

func tilesApart(t *testing.T, dilation int) {
	const channels, high, wide = 32, 13, 11
	r := rand.New(rand.NewPCG(8, 8))
	x, w := randomTensor(r, tensor.F32, []int{2, channels, high, wide}),
		randomTensor(r, tensor.F32, []int{48, channels, 3, 3})
	d := openSet(t, "auto", 2)
	for _, v := range []float64{math.NaN(), math.Inf(-1), 0x1p110, 0x1p40, 1e5} {
		for _, at := range []int{0, 5*wide + 7, (high-1)*wide + 3, (channels+3)*high*wide - 1} {
			poisoned := x.Clone()
			poisoned.F32()[at] = float32(v)
			got, want := convolved(t, d, poisoned, w, dilation), convolved(t, ref.New("ref"), poisoned, w, dilation)
			scale := convolved(t, ref.New("ref"), sizes(poisoned), sizes(w), dilation)
			for i, g := range got.F32() {
				off := math.Abs(float64(g) - float64(want.F32()[i]))
				if size := float64(scale.F32()[i]); size < math.MaxFloat32 && !(off <= 2e-6*size) {
					t.Fatalf("%g at %d: output %d is off by %.2g of the sum of sizes", v, at, i, off/size)
				}
			}
		}
	}
}

// Kernels in which one weight is much larger than the others keep their precision, too.
func TestKernelsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	x, w := randomTensor(r, tensor.F32, []int{3, 32, 8, 8}), randomTensor(r, tensor.F32, []int{32, 32, 3, 3})
	for i := range w.F32() {
		if i%9 == 4 {
			w.F32()[i] *= 1e6
		}
	}
	for i := range x.F32() {
		if i/8%8 < 4 {
			x.F32()[i] = 0
		}
	}
	got, want := convolved(t, openSet(t, "auto", 1), x, w, 1), convolved(t, ref.New("ref"), x, w, 1)
	scale := convolved(t, ref.New("ref"), sizes(x), sizes(w), 1)
	for i, g := range got.F32() {
		off, size := math.Abs(float64(g)-float64(want.F32()[i])), float64(scale.F32()[i])
		if !(off <= 2e-6*size) {
			t.Fatalf("output %d is off by %.2g of the sum of sizes", i, off/size)
		}
	}
}
