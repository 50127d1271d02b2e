package devicetest

import (
	"context"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// defined lists convolutions for every algorithm of class.Choose. Their shapes leave remainders: pixels
// after the last whole tile, channels after the last whole vector, and rows or products after whole
// chunks, spans and blocks of GPUs. The outputs of other cases are compared by bits as well.
var defined = []convolution{
	{name: "implicit GEMM, uneven strides", in: 5, out: 7, h: 9, w: 8, kh: 3, kw: 2, stride: [2]int{2, 3},
		pad: [4]int{1, 0, 2, 1}, bias: true},
	{name: "implicit GEMM, groups and dilation", in: 12, out: 6, h: 8, w: 7, kh: 2, kw: 3,
		pad: [4]int{0, 2, 1, 1}, dilation: [2]int{1, 2}, groups: 3},
	{name: "implicit GEMM, more than a chunk", in: 3, out: 4, h: 66, w: 65, kh: 3, kw: 3,
		pad: [4]int{1, 1, 1, 1}},
	{name: "implicit GEMM, more than a block", in: 6, out: 5, h: 30, w: 29, kh: 2, kw: 3, stride: [2]int{2, 1},
		pad: [4]int{1, 0, 1, 1}},
	{name: "direct", in: 24, out: 16, h: 4, w: 5, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}, bias: true},
	{name: "direct, more than a block", in: 24, out: 16, h: 23, w: 22, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1},
		bias: true},
	{name: "direct back, more than a block", in: 16, out: 24, h: 23, w: 22, kh: 3, kw: 3,
		pad: [4]int{1, 1, 1, 1}},
	{name: "direct, 5x3", in: 16, out: 16, h: 6, w: 4, kh: 5, kw: 3, pad: [4]int{2, 0, 1, 1}},
	{name: "Winograd of 4x4", in: 48, out: 32, h: 5, w: 6, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}, bias: true},
	{name: "Winograd of 4x4, more than a chunk", in: 32, out: 16, h: 66, w: 63, kh: 3, kw: 3,
		pad: [4]int{1, 1, 1, 1}},
	{name: "Winograd of 4x4, more than a block", in: 48, out: 32, h: 46, w: 45, kh: 3, kw: 3,
		pad: [4]int{1, 1, 1, 1}, bias: true},
	{name: "Winograd of 4x4, dilation 2", in: 32, out: 48, h: 13, w: 14, kh: 3, kw: 3,
		pad: [4]int{2, 2, 2, 2}, dilation: [2]int{2, 2}, bias: true},
	{name: "Winograd of 4x4, dilation 3", in: 48, out: 32, h: 10, w: 11, kh: 3, kw: 3,
		pad: [4]int{3, 3, 3, 3}, dilation: [2]int{3, 3}},
	{name: "Winograd of 4x4, dilation 2, wide", in: 272, out: 256, h: 8, w: 8, kh: 3, kw: 3,
		pad: [4]int{2, 2, 2, 2}, dilation: [2]int{2, 2}},
	{name: "implicit GEMM, phases too small for tiles", in: 32, out: 32, h: 9, w: 10, kh: 3, kw: 3,
		pad: [4]int{2, 2, 2, 2}, dilation: [2]int{2, 2}},
	{name: "Winograd of 2x2", in: 272, out: 256, h: 2, w: 3, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}},
	{name: "Winograd of 2x2, 16 channels", in: 16, out: 16, h: 7, w: 6, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1},
		bias: true},
	{name: "Winograd of 2x2, 16 channels, more than a chunk", in: 16, out: 48, h: 66, w: 63, kh: 3, kw: 3,
		pad: [4]int{1, 1, 1, 1}},
	{name: "Winograd of 5x5", in: 48, out: 32, h: 7, w: 10, kh: 5, kw: 5, pad: [4]int{2, 2, 2, 2}, bias: true},
	{name: "Winograd of 5x5, 16 channels", in: 16, out: 32, h: 26, w: 25, kh: 5, kw: 5, pad: [4]int{2, 2, 2, 2}},
	{name: "Winograd of 5x5, more than a chunk", in: 32, out: 16, h: 66, w: 63, kh: 5, kw: 5,
		pad: [4]int{2, 2, 2, 2}},
	{name: "implicit GEMM, images too small for tiles", in: 32, out: 16, h: 5, w: 5, kh: 5, kw: 5,
		pad: [4]int{2, 2, 2, 2}},
	{name: "depthwise, 4x4", in: 21, out: 21, h: 7, w: 6, kh: 4, kw: 4, pad: [4]int{2, 1, 1, 2}, groups: 21,
		bias: true},
	{name: "depthwise by rows, 5x5 stride 2", in: 20, out: 20, h: 9, w: 8, kh: 5, kw: 5, stride: [2]int{2, 2},
		pad: [4]int{2, 2, 2, 2}, groups: 20},
	{name: "depthwise by rows, 3x3", in: 35, out: 35, h: 6, w: 9, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1},
		groups: 35, bias: true},
}

// special fills t with values of the normal distribution. One in 60 is instead NaN, infinite, a zero of
// either sign, the smallest number above 0, or the largest finite number.
func special(d *tensor.Draws, t tensor.Tensor) {
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 0x1p-149, -0x1p-140,
		math.MaxFloat32}
	set(t, func(int) float64 {
		if d.Intn(60) == 0 {
			return values[d.Intn(len(values))]
		}
		return d.Normal()
	})
}

// signedZeros fills t with zeros of either sign.
func signedZeros(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return math.Copysign(0, float64(d.Intn(2))-0.5) })
}

// awkward lists the fillers for the operands of each convolution in defined.
var awkward = []struct {
	name   string
	values filler
}{
	{"normal", normal}, {"10^-6 to 100", spread}, {"NaN, infinities, zeros", special},
	{"zeros of either sign", signedZeros},
}

// definedProbes returns the probes of the class definitions: operands at the limits of class.EvenTile and
// similar guards, all convolutions with all fillers, and sums over channels of various lengths.
func definedProbes() []probe {
	all := edgeProbes()
	for _, c := range defined {
		for _, v := range awkward {
			const most = 10000 // values of an image or a weight; larger ones are slow in the definitions' loops
			if v.name != "normal" && max(c.h*c.w*c.in, c.in*c.out) > most {
				continue
			}
			for _, p := range c.definedBy() {
				p.name += ", " + v.name
				for i := range p.operands {
					p.operands[i] = p.operands[i].filledBy(v.values)
				}
				all = append(all, p)
			}
		}
	}
	all = append(all, functionProbes()...)
	all = append(all, rowNormEdges()...)
	all = append(all, compareFunctions()...)
	for _, shape := range [][]int{{3, 66, 65}, {17, 8, 8}, {33, 3, 7}, {5, 1, 1}} {
		all = append(all, sumProbes(shape, spread, normal, "")...)
	}
	for _, shape := range [][]int{{3, 66, 65}, {17, 8, 8}, {35, 1, 1}} {
		all = append(all, sumProbes(shape, huge, normal, ", huge")...)
		all = append(all, sumProbes(shape, huge, huge, ", huge gradient")[3:]...)
		all = append(all, sumProbes(shape, largest, largest, ", largest")...)
	}
	return all
}

// sumProbes returns probes of all operations that sum over the positions of channels.
func sumProbes(shape []int, values, gradient filler, suffix string) []probe {
	x, dy := rows(shape...).filledBy(values), rows(shape...).filledBy(gradient)
	name := fmt.Sprintf("%d channels of %dx%d", shape[0], shape[1], shape[2]) + suffix
	return []probe{
		{name, graph.Moments, nil, []operand{x}, bits},
		{name, graph.ChannelSum, nil, []operand{x}, bits},
		{name, graph.GlobalAvgPool, nil, []operand{x}, bits},
		{name, graph.NormaliseGradSums, []any{"over", "batch"},
			[]operand{x, dy, whole(1 + 2*shape[0]).withType(tensor.F64).filledBy(momentsOf(50))}, bits},
	}
}

// definedBy returns the probes for c. Large images and convolutions with many channels have fewer
// probes.
func (c convolution) definedBy() []probe {
	all := c.probes()
	switch {
	case c.h*c.w > 4096:
		return all[2:] // only the probes of the gradient for the weight
	case c.in > 256:
		return all[:2]
	}
	return all
}

// classCases returns the cases that compare a device with the definitions of its class, by bits only.
// They do not apply to devices of other classes.
func classCases() []Case {
	var cases []Case
	add := func(name string, program func() (*graph.Program, error), build func() (*setting, error)) {
		c := newCase("class: "+name, "docs/classes.md: the bits of the definition, whatever else is on the device",
			program, byBits(build))
		c.class = class.FMA
		cases = append(cases, c)
	}
	for _, p := range definedProbes() {
		add(p.title(), p.program, p.setting)
	}
	for _, c := range joined() {
		add(c.name+", joined to others", c.program, c.setting)
	}
	return cases
}

// byBits returns the Run of a case that checks the setting with byBits.
func byBits(build func() (*setting, error)) func(ctx context.Context, open Opener) error {
	return func(ctx context.Context, open Opener) error {
		s, err := build()
		if err != nil {
			return err
		}
		return s.byBits(ctx, open)
	}
}

// byBits makes a run with all replicas, and a run with one replica, and compares the bits of both with
// the definitions of the device's class.
func (s *setting) byBits(ctx context.Context, open Opener) error {
	m, err := loaded(ctx, open, s)
	if err != nil {
		return err
	}
	defer m.Close()
	claim := m.Info().Kernels
	if !defines(ctx, claim) {
		return nil
	}
	for _, replicas := range [][]int{{0, 1, 2, 3}, {0}} {
		some := s.ofReplicas(replicas...)
		got, err := some.run(ctx, m.x)
		if err == nil {
			err = some.sameAsDefined(ctx, claim, got)
		}
		if err != nil {
			return fmt.Errorf("replicas of %v rows: %w", some.rows, err)
		}
	}
	return nil
}
