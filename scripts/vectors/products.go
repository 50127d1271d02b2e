package main

import "github.com/bnctl/bnctl/graph"

// window is a convolution. There is a case for each of its three products: forward, for the input and for the
// weight.
type window struct {
	description    string
	in, out, h, w  int
	kernel         [2]int
	stride, dilate [2]int // 0 is 1
	pad            [4]int
	groups         int // 0 is 1
	bias           bool
	products       string // the products that are made: f forward, b backward, w weight; "": all
	plain          bool   // normal values only
}

// windows are convolutions for every algorithm. Their shapes are not multiples of the sizes of blocks.
var windows = []window{
	{description: "uneven strides and padding", in: 3, out: 5, h: 6, w: 7, kernel: [2]int{3, 2},
		stride: [2]int{2, 3},
		pad:    [4]int{1, 0, 2, 1}, bias: true},
	{description: "kernel of 1 by 1", in: 7, out: 3, h: 3, w: 5, kernel: [2]int{1, 1}, bias: true},
	{description: "groups and dilation", in: 6, out: 4, h: 6, w: 7, kernel: [2]int{2, 3}, dilate: [2]int{1, 2},
		pad: [4]int{0, 2, 1, 1}, groups: 2},
	{description: "padding beyond the kernel", in: 2, out: 3, h: 3, w: 4, kernel: [2]int{2, 2}, pad: [4]int{3,
		2, 0,
		4}},
	{description: "more than a chunk of positions", in: 1, out: 2, h: 66, w: 65, kernel: [2]int{2, 2},
		products: "w",
		plain:    true},
	{description: "direct", in: 8, out: 16, h: 4, w: 5, kernel: [2]int{3, 3}, pad: [4]int{1, 1, 1, 1},
		bias:  true,
		plain: true},
	{description: "direct back", in: 16, out: 8, h: 5, w: 4, kernel: [2]int{3, 3}, pad: [4]int{1, 1, 1, 1},
		plain: true},
	{description: "tiles of 2 by 2", in: 16, out: 16, h: 5, w: 6, kernel: [2]int{3, 3}, pad: [4]int{1, 1, 1, 1},
		bias: true},
	{description: "tiles of 4 by 4", in: 32, out: 16, h: 5, w: 6, kernel: [2]int{3, 3}, pad: [4]int{1, 1, 1, 1},
		bias: true},
	{description: "tiles of 4 by 4, dilation", in: 32, out: 16, h: 9, w: 10, kernel: [2]int{3, 3},
		pad: [4]int{2, 2,
			2, 2},
		dilate: [2]int{2, 2}, plain: true},
	{description: "tiles of 2 by 2 and kernel of 5 by 5", in: 16, out: 16, h: 8, w: 9, kernel: [2]int{5, 5},
		pad: [4]int{2, 2, 2, 2}, bias: true, plain: true},
	{description: "depthwise, 4 by 4", in: 5, out: 5, h: 6, w: 5, kernel: [2]int{4, 4}, pad: [4]int{2, 1, 1, 2},
		groups: 5,
		bias:   true},
	{description: "depthwise, dilation and stride", in: 3, out: 3, h: 7, w: 8, kernel: [2]int{3, 3},
		dilate: [2]int{2, 1},
		stride: [2]int{1, 2}, groups: 3},
	{description: "depthwise, twice the channels", in: 3, out: 6, h: 4, w: 5, kernel: [2]int{3, 3}, groups: 3},
	{description: "depthwise by rows, 3 by 3", in: 5, out: 5, h: 4, w: 6, kernel: [2]int{3, 3}, pad: [4]int{1,
		1, 1,
		1},
		groups: 5, bias: true},
	{description: "depthwise by rows, 5 by 5 with stride 2", in: 3, out: 3, h: 7, w: 6, kernel: [2]int{5, 5},
		stride: [2]int{2, 2}, pad: [4]int{2, 2, 2, 2}, groups: 3},
}

func ones(v [2]int) []int { return []int{max(v[0], 1), max(v[1], 1)} }

// extent returns the length of the result along an axis.
func (w window) extent(axis, length int) int {
	stride, dilate := ones(w.stride)[axis], ones(w.dilate)[axis]
	return (length+w.pad[axis]+w.pad[axis+2]-dilate*(w.kernel[axis]-1)-1)/stride + 1
}

func (w window) attrs(others ...any) []any {
	return append([]any{"stride", ones(w.stride), "dilation", ones(w.dilate), "pad", w.pad[:], "groups",
		max(w.groups, 1)}, others...)
}

// cases returns a case for each product of the window.
func (w window) cases() []testCase {
	x := rows(w.in, w.h, w.w)
	dy := rows(w.out, w.extent(0, w.h), w.extent(1, w.w))
	kernel := whole(w.out, w.in/max(w.groups, 1), w.kernel[0], w.kernel[1])
	forward := []operand{x, kernel}
	if w.bias {
		forward = append(forward, whole(w.out))
	}
	var all []testCase
	for product, c := range map[string]testCase{
		"f": one(graph.Conv, w.description, w.attrs(), forward...),
		"b": one(graph.ConvGradInput, w.description, w.attrs("size", []int{w.h, w.w}), dy, kernel),
		"w": one(graph.ConvGradWeight, w.description, w.attrs("kernel", w.kernel[:]), x, dy),
	} {
		switch {
		case w.products != "" && w.products != product:
		case w.plain:
			all = append(all, c)
		default:
			all = append(all, thrice(c)...)
		}
	}
	return all
}

// productCases returns cases of all products with a weight, and of products of two matrices.
func productCases() []testCase {
	var all []testCase
	for _, w := range windows {
		all = append(all, w.cases()...)
	}
	for _, c := range []testCase{
		one(graph.ConvTranspose, "stride 2, bias", []any{"stride", []int{2, 2}}, rows(4, 3, 4), whole(4, 3, 2, 2),
			whole(3)),
		one(graph.ConvTranspose, "padding, output padding", []any{"stride", []int{2, 2}, "pad", []int{1, 1, 1, 1},
			"output_pad", []int{1, 0}}, rows(3, 4, 3), whole(3, 5, 3, 3)),
		one(graph.ConvTranspose, "groups, dilation", []any{"stride", []int{1, 3}, "pad", []int{0, 1, 2, 0},
			"dilation", []int{2, 1}, "groups", 2}, rows(4, 5, 3), whole(4, 3, 3, 4), whole(6)),
		one(graph.Dense, "17 to 5, bias", nil, rows(17), whole(5, 17), whole(5)),
		one(graph.Dense, "130 to 3", nil, rows(130), whole(3, 130)),
		one(graph.Dense, "leading axes", []any{"leading", 2}, rows(2, 3, 7), whole(5, 7), whole(5)),
		one(graph.DenseGradInput, "17 to 5", nil, rows(5), whole(5, 17)),
		one(graph.DenseGradInput, "leading axes", []any{"leading", 2}, rows(2, 3, 5), whole(5, 7)),
		one(graph.DenseGradWeight, "17 to 5", nil, rows(17), rows(5)),
		one(graph.DenseGradWeight, "leading axes", []any{"leading", 2}, rows(2, 3, 7), rows(2, 3, 5)),
		one(graph.MatMul, "3x5 by 5x7", nil, rows(3, 5), rows(5, 7)),
		one(graph.MatMul, "transposed, leading axes repeated", []any{"transpose_a", true, "transpose_b", true},
			rows(5, 4, 3), rows(2, 1, 6, 4)),
		one(graph.MatMul, "rows by a matrix of the whole", nil, rows(2, 3, 9), whole(9, 4)),
	} {
		all = append(all, thrice(c)...)
	}
	long := one(graph.DenseGradWeight, "more than a chunk of positions", []any{"leading", 1}, rows(4100, 1),
		rows(4100, 1))
	return append(append(all, long), folded()...)
}

// folded returns cases of products followed by a batch norm, which becomes a part of their weights.
func folded() []testCase {
	channels := func(n int) []operand {
		return []operand{whole(n), whole(n), whole(n), whole(n).with(positive)}
	}
	norm := node{graph.BatchNorm, []any{"eps", 1e-3}, 4}
	fold := func(c testCase, n int) testCase {
		c.description += ", batch norm folded"
		c.name = fileName(c.description)
		c.operands = append(c.operands, channels(n)...)
		c.nodes = append(c.nodes, norm)
		return c
	}
	return []testCase{
		fold(one(graph.Conv, "implicit GEMM", nil, rows(3, 4, 5), whole(4, 3, 2, 3)), 4),
		fold(one(graph.Conv, "bias", nil, rows(3, 4, 5), whole(4, 3, 2, 2), whole(4)), 4),
		fold(one(graph.ConvTranspose, "groups", []any{"groups", 2, "stride", []int{2, 1}}, rows(4, 3, 4),
			whole(4, 3, 2, 2)), 6),
		fold(one(graph.Dense, "17 to 5", nil, rows(17), whole(5, 17), whole(5)), 5),
	}
}
