package devicetest

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// convolution has the shape of a convolution. It has probes of conv and its gradients.
type convolution struct {
	name     string
	in, out  int // channels
	h, w     int
	kh, kw   int
	stride   [2]int // 0 means 1, also in dilation and groups
	pad      [4]int
	dilation [2]int
	groups   int
	bias     bool
}

var convolutions = []convolution{
	{name: "3x3", in: 3, out: 5, h: 7, w: 6, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}},
	{name: "3x3 of 16 to 32 channels, bias", in: 16, out: 32, h: 9, w: 8, kh: 3, kw: 3,
		pad: [4]int{1, 1, 1, 1}, bias: true},
	{name: "3x3 of 48 to 32 channels", in: 48, out: 32, h: 9, w: 10, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}},
	{name: "3x3 stride 2", in: 16, out: 16, h: 8, w: 8, kh: 3, kw: 3, stride: [2]int{2, 2},
		pad: [4]int{1, 1, 1, 1}},
	{name: "1x1", in: 33, out: 17, h: 5, w: 3, kh: 1, kw: 1},
	{name: "1x1 stride 2", in: 16, out: 32, h: 7, w: 8, kh: 1, kw: 1, stride: [2]int{2, 2}},
	{name: "5x5 of one channel, bias", in: 1, out: 32, h: 12, w: 11, kh: 5, kw: 5, pad: [4]int{2, 2, 2, 2},
		bias: true},
	{name: "5x5 of 32 to 48 channels", in: 32, out: 48, h: 11, w: 12, kh: 5, kw: 5, pad: [4]int{2, 2, 2, 2}},
	{name: "7x7 stride 2", in: 3, out: 9, h: 17, w: 15, kh: 7, kw: 7, stride: [2]int{2, 2},
		pad: [4]int{3, 3, 3, 3}},
	{name: "1x4 stride 3,1, uneven padding", in: 4, out: 6, h: 8, w: 5, kh: 1, kw: 4,
		stride: [2]int{3, 1}, pad: [4]int{0, 3, 1, 0}},
	{name: "padding wider than the kernel", in: 2, out: 3, h: 3, w: 2, kh: 2, kw: 3, pad: [4]int{4, 0, 1, 5}},
	{name: "dilation 2,3", in: 5, out: 4, h: 9, w: 11, kh: 3, kw: 3, pad: [4]int{2, 3, 2, 3},
		dilation: [2]int{2, 3}},
	{name: "3 groups", in: 6, out: 9, h: 5, w: 5, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}, groups: 3, bias: true},
	{name: "groups of 16 channels", in: 32, out: 32, h: 4, w: 5, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1},
		groups: 2},
	{name: "depthwise", in: 19, out: 19, h: 6, w: 7, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}, groups: 19},
	{name: "depthwise stride 2", in: 32, out: 32, h: 8, w: 8, kh: 3, kw: 3, stride: [2]int{2, 2},
		pad: [4]int{0, 0, 1, 1}, groups: 32},
	{name: "depthwise times 2", in: 4, out: 8, h: 5, w: 5, kh: 3, kw: 3, groups: 4},
	{name: "rows and columns never read", in: 2, out: 2, h: 8, w: 9, kh: 2, kw: 2, stride: [2]int{3, 4}},
}

func (c convolution) window() graph.Window {
	one := func(v [2]int) [2]int { return [2]int{max(v[0], 1), max(v[1], 1)} }
	return graph.Window{Kernel: [2]int{c.kh, c.kw}, Stride: one(c.stride), Dilation: one(c.dilation), Pad: c.pad,
		Groups: max(c.groups, 1)}
}

func (c convolution) attrs(others ...any) []any {
	w := c.window()
	return append([]any{"stride", w.Stride[:], "pad", w.Pad[:], "dilation", w.Dilation[:], "groups",
		w.Groups}, others...)
}

// probes returns the convolution and both gradients.
func (c convolution) probes() []probe {
	w := c.window()
	oh, ow := w.Extent(0, c.h), w.Extent(1, c.w)
	x, dy := rows(c.in, c.h, c.w), rows(c.out, oh, ow)
	kernel := whole(c.out, c.in/w.Groups, c.kh, c.kw)
	forward := []operand{x, kernel}
	if c.bias {
		forward = append(forward, whole(c.out))
	}
	terms := c.kh * c.kw / w.Groups
	return []probe{
		{c.name, graph.Conv, c.attrs(), forward, products(terms*c.in + 1)},
		{c.name, graph.ConvGradInput, c.attrs("size", []int{c.h, c.w}), []operand{dy, kernel},
			products(terms*c.out + 1)},
		{c.name, graph.ConvGradWeight, c.attrs("kernel", []int{c.kh, c.kw}), []operand{x, dy},
			products(3 * oh * ow)},
	}
}

// transposed has probes of transposed convolutions. Stride and padding refer to the larger image, the output.
var transposed = []probe{
	{"2x2 stride 2, bias", graph.ConvTranspose, []any{"stride", []int{2, 2}},
		[]operand{rows(6, 4, 5), whole(6, 3, 2, 2), whole(3)}, products(6)},
	{"3x3 stride 2, padding, output padding", graph.ConvTranspose,
		[]any{"stride", []int{2, 2}, "pad", []int{1, 1, 1, 1}, "output_pad", []int{1, 0}},
		[]operand{rows(4, 5, 3), whole(4, 7, 3, 3)}, products(16)},
	{"2 groups, dilation, stride 1,3", graph.ConvTranspose,
		[]any{"stride", []int{1, 3}, "pad", []int{0, 1, 2, 0}, "dilation", []int{2, 1}, "groups", 2},
		[]operand{rows(4, 5, 3), whole(4, 3, 3, 4), whole(6)}, products(12)},
}

// matrices are the numbers of inputs and outputs of dense layers.
var matrices = [][2]int{{1, 1}, {7, 5}, {64, 10}, {130, 33}, {513, 16}}

func matrixProbes(in, out int, name string) []probe {
	x, dy, w := rows(in), rows(out), whole(out, in)
	return []probe{
		{name, graph.Dense, nil, []operand{x, w}, products(in)},
		{name + ", bias", graph.Dense, nil, []operand{x, w, whole(out)}, products(in + 1)},
		{name, graph.DenseGradInput, nil, []operand{dy, w}, products(out)},
		{name, graph.DenseGradWeight, nil, []operand{x, dy}, products(3)},
	}
}

// extremes returns probes of products of very large and very small operands (docs/numerics.md, section 5).
func extremes() []probe {
	x, w := rows(16, 5, 5).filledBy(extreme), whole(16, 16, 3, 3).filledBy(extreme)
	v, m := rows(65).filledBy(extreme), whole(9, 65).filledBy(extreme)
	pad, pad5 := []any{"pad", []int{1, 1, 1, 1}}, []any{"pad", []int{2, 2, 2, 2}}
	const name = "2^-60 to 2^60"
	return []probe{
		{name, graph.Conv, pad, []operand{x, w}, products(144)},
		{name, graph.ConvGradInput, append(pad, "size", []int{5, 5}), []operand{x, w}, products(144)},
		{name, graph.ConvGradWeight, append(pad, "kernel", []int{3, 3}), []operand{x, x}, products(75)},
		{"2^-60 to 2^60, image", graph.Conv, pad, []operand{rows(32, 9, 6).filledBy(extreme), whole(32, 32, 3, 3)},
			products(288)},
		{"2^-60 to 2^60, kernel", graph.Conv, pad, []operand{rows(32, 6, 9), whole(32, 32, 3, 3).filledBy(extreme)},
			products(288)},
		{"2^-60 to 2^60, image, 5x5", graph.Conv, pad5,
			[]operand{rows(32, 8, 7).filledBy(extreme), whole(16, 32, 5, 5)}, products(800)},
		{"2^-60 to 2^60, kernel, 5x5", graph.Conv, pad5,
			[]operand{rows(32, 7, 8), whole(16, 32, 5, 5).filledBy(extreme)}, products(800)},
		{"2^-60 to 2^60, 5x5", graph.ConvGradWeight, append(pad5, "kernel", []int{5, 5}),
			[]operand{rows(32, 24, 23).filledBy(extreme), rows(16, 24, 23).filledBy(extreme)}, products(1656)},
		{"2^-60 to 2^60, 32 channels", graph.ConvGradWeight, append(pad, "kernel", []int{3, 3}),
			[]operand{rows(32, 9, 6).filledBy(extreme), rows(32, 9, 6).filledBy(extreme)}, products(162)},
		{"channels of few values", graph.ConvGradWeight, append(pad, "kernel", []int{3, 3}),
			[]operand{rows(32, 9, 6).filledBy(lonely), rows(32, 9, 6)}, products(162)},
		{name, graph.Dense, nil, []operand{v, m}, products(65)},
		{name, graph.DenseGradInput, nil, []operand{rows(9).filledBy(extreme), m}, products(9)},
		{name, graph.DenseGradWeight, nil, []operand{v, rows(9).filledBy(extreme)}, products(3)},
	}
}

// productProbes returns the probes of all products with a weight.
func productProbes() []probe {
	p := slices.Concat(transposed, extremes())
	for _, c := range convolutions {
		p = append(p, c.probes()...)
	}
	for _, m := range matrices {
		p = append(p, matrixProbes(m[0], m[1], fmt.Sprintf("%d to %d", m[0], m[1]))...)
	}
	return p
}
