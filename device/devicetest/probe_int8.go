package devicetest

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Sums of int8 are exact: every result has the bits of device/ref, in every class.

func u8(shape ...int) operand { return rows(shape...).withType(tensor.U8).filledBy(bytes) }

func i8(f filler, shape ...int) operand { return whole(shape...).withType(tensor.I8).filledBy(f) }

// weights fills t with random int8 values.
func weights(d *tensor.Draws, t tensor.Tensor) {
	for i := range tensor.View[int8](t) {
		tensor.View[int8](t)[i] = int8(d.Uint32())
	}
}

// outermost fills most output channels with the largest weight and every third one with the smallest,
// so that sums reach both extremes.
func outermost(d *tensor.Draws, t tensor.Tensor) {
	for i := range tensor.View[int8](t) {
		tensor.View[int8](t)[i] = 127
		if i/(t.Count()/t.Shape[0])%3 == 1 || d.Intn(40) == 0 {
			tensor.View[int8](t)[i] = -128
		}
	}
}

// full fills t with bytes of 255, and a few of 254.
func full(d *tensor.Draws, t tensor.Tensor) {
	for i := range t.U8() {
		t.U8()[i] = 255 - uint8(min(d.Intn(9), 1)^1)
	}
}

// biases returns an operand of whole numbers from -n to n.
func biases(n int) operand {
	return whole().withType(tensor.I32).filledBy(func(d *tensor.Draws, t tensor.Tensor) {
		for i := range t.I32() {
			t.I32()[i] = int32(d.Intn(2*n+1) - n)
		}
	})
}

// factors returns a filler for the factors that turn sums of n products into steps of the result. The
// results are up to some hundred steps. Some factors are 1/1024, so that some results are halves of a
// step.
func factors(n int) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		set(t, func(i int) float64 {
			if i%4 == 0 {
				return 1.0 / 1024
			}
			return d.Between(0.5, 1.5) / float64(16*n)
		})
	}
}

// sums returns the operands of an int8 product with a weight of this shape.
func sums(x operand, w filler, bias int, shape ...int) []operand {
	terms, b := tensor.Count(shape[1:]), biases(bias)
	b.typ.Shape = shape[:1]
	return []operand{x, i8(w, shape...), b, whole(shape[0]).filledBy(factors(terms))}
}

var convInt8Probes = []probe{
	{"3x3, padding, zero of x", graph.ConvInt8, []any{"pad", []int{1, 1, 1, 1}, "x_zero", 117, "zero", 9},
		sums(u8(17, 6, 5), weights, 5000, 19, 17, 3, 3), bits},
	{"3x3 of 3 channels, stride 2", graph.ConvInt8, []any{"stride", []int{2, 2}, "pad", []int{1, 1, 1, 1},
		"x_zero", 121}, sums(u8(3, 9, 7), weights, 900, 16, 3, 3, 3), bits},
	{"7x7 of 3 channels, stride 2", graph.ConvInt8, []any{"stride", []int{2, 2}, "pad", []int{3, 3, 3, 3},
		"x_zero", 128}, sums(u8(3, 11, 14), weights, 900, 9, 3, 7, 7), bits},
	{"7x7 of 3 channels to 31, stride 2", graph.ConvInt8, []any{"stride", []int{2, 2}, "pad", []int{3, 3, 3, 3},
		"x_zero", 114, "zero", 70}, sums(u8(3, 9, 8), weights, 900, 31, 3, 7, 7), bits},
	{"5x5 of 4 channels to 67", graph.ConvInt8, []any{"pad", []int{1, 2, 3, 2}, "x_zero", 3, "zero", 120},
		sums(u8(4, 6, 5), weights, 900, 67, 4, 5, 5), bits},
	{"1x1, bounds", graph.ConvInt8, []any{"zero", 100, "min", 100, "max", 180},
		sums(u8(66, 3, 5), weights, 4000, 70, 66, 1, 1), bits},
	{"1x1, stride 2, of 64 to 32 channels", graph.ConvInt8, []any{"stride", []int{2, 2}, "zero", 3},
		sums(u8(64, 5, 6), weights, 4000, 32, 64, 1, 1), bits},
	{"uneven window, groups, dilation", graph.ConvInt8, []any{"groups", 3, "dilation", []int{1, 2}, "pad",
		[]int{0, 2, 1, 1}, "x_zero", 1, "zero", 255}, sums(u8(12, 8, 7), weights, 10, 6, 4, 2, 3), bits},
	{"depthwise 3x3", graph.ConvInt8, []any{"groups", 35, "pad", []int{1, 1, 1, 1}, "x_zero", 3, "zero", 60},
		sums(u8(35, 6, 9), weights, 500, 35, 1, 3, 3), bits},
	{"depthwise 5x5, stride 2", graph.ConvInt8, []any{"groups", 20, "pad", []int{2, 2, 2, 2}, "stride",
		[]int{2, 2}}, sums(u8(20, 9, 8), weights, 500, 20, 1, 5, 5), bits},
	{"depthwise, float", graph.ConvInt8, []any{"groups", 7, "x_zero", 5, "float", true},
		sums(u8(7, 4, 5), weights, 500, 7, 1, 3, 3), bits},
	{"depthwise, sums that saturate in 16 bits", graph.ConvInt8, []any{"groups", 66, "zero", 128},
		sums(u8(66, 7, 8).filledBy(full), outermost, 1<<20, 66, 1, 7, 7), bits},
	{"float, 40 channels", graph.ConvInt8, []any{"x_zero", 30, "float", true},
		sums(u8(6, 4, 5), weights, 5000, 40, 6, 3, 3), bits},
	{"float, 60 to 32 channels", graph.ConvInt8, []any{"x_zero", 9, "float", true},
		sums(u8(60, 5, 14), weights, 5000, 32, 60, 1, 1), bits},
	{"float, 77 to 64 channels", graph.ConvInt8, []any{"x_zero", 240, "float", true},
		sums(u8(77, 3, 11), weights, 5000, 64, 77, 1, 1), bits},
	{"float, 153 positions", graph.ConvInt8, []any{"x_zero", 7, "float", true},
		sums(u8(5, 9, 17), weights, 5000, 9, 5, 1, 1), bits},
	{"float", graph.ConvInt8, []any{"pad", []int{1, 1, 1, 1}, "x_zero", 30, "float", true},
		sums(u8(16, 4, 5), weights, 5000, 21, 16, 3, 3), bits},
	{"sums that saturate in 16 bits", graph.ConvInt8, []any{"pad", []int{1, 1, 1, 1}, "zero", 120},
		sums(u8(64, 4, 4).filledBy(full), outermost, 1<<20, 18, 64, 3, 3), bits},
	{"sums that saturate in 16 bits, 1x1", graph.ConvInt8, []any{"x_zero", 255},
		sums(u8(100, 2, 3).filledBy(full), outermost, 1<<30, 33, 100, 1, 1), bits},
	{"long sums", graph.DenseInt8, []any{"zero", 128},
		sums(u8(3000).filledBy(full), outermost, 1<<30, 5, 3000), bits},
	{"17 to 5", graph.DenseInt8, []any{"x_zero", 4, "zero", 77}, sums(u8(17), weights, 300, 5, 17), bits},
	{"256 to 70", graph.DenseInt8, []any{"min", 20, "max", 21}, sums(u8(256), weights, 300, 70, 256), bits},
	{"float", graph.DenseInt8, []any{"x_zero", 4, "float", true}, sums(u8(64), weights, 300, 10, 64), bits},
}

func int8Probes() []probe {
	p := []probe{
		{"halves of a step", graph.Quantize, []any{"scale", 0.25, "zero", 3},
			[]operand{rows(5, 7, 9).filledBy(listed(-1, -0.125, 0.125, 0.375, 0.625, 63, 64, 1e9, -1e9))}, bits},
		{"NaN, infinities, zeros", graph.Quantize, []any{"scale", 0.1, "zero", 128},
			[]operand{rows(16, 3, 3).filledBy(special)}, bits},
		{"one axis, scale of many bits", graph.Quantize, []any{"scale", 0.017324}, []operand{rows(70)}, bits},
		{"map", graph.Dequantize, []any{"scale", 0.017324, "zero", 131}, []operand{u8(5, 7, 9)}, bits},
		{"one axis", graph.Dequantize, []any{"scale", 3.0}, []operand{u8(70)}, bits},
		{"map", graph.AddInt8, []any{"a_by", 0.731, "b_by", 1.37, "a_zero", 3, "b_zero", 128, "zero", 50, "min",
			50}, []operand{u8(18, 5, 3), u8(18, 5, 3)}, bits},
		{"halves, one axis", graph.AddInt8, []any{"a_by", 0.5, "b_by", 0.25, "max", 150},
			[]operand{u8(77), u8(77)}, bits},
		{"joint, u8", graph.AddInt8, []any{"a_by", 0.731, "b_by", 1.37, "a_zero", 3, "b_zero", 128, "zero", 51,
			"min", 50, "joint", "u8"}, []operand{u8(18, 5, 3), u8(18, 5, 3)}, bits},
		{"joint, i8, halves", graph.AddInt8, []any{"a_by", 0.5, "b_by", 0.25, "a_zero", 100, "b_zero", 131, "zero",
			77, "max", 150, "joint", "i8"}, []operand{u8(770), u8(770)}, bits},
		{"joint, close to the middle", graph.AddInt8, []any{"a_by", 0.1, "b_by", 0.3, "a_zero", 7, "b_zero", 130,
			"zero", 101, "joint", "i8"}, []operand{u8(64, 9, 9), u8(64, 9, 9)}, bits},
		{"joint, halves", graph.MulInt8, []any{"by", 0.0078125, "a_zero", 9, "b_zero", 3, "zero", 77, "joint",
			"u8"}, []operand{u8(6, 4, 5), u8(6, 4, 5)}, bits},
		{"joint, gate of 24 channels", graph.MulInt8, []any{"by", 0.0078125, "a_zero", 200, "b_zero", 3, "zero", 99,
			"min", 5, "joint", "i8"}, []operand{u8(24, 7, 5), u8(24, 1, 1)}, bits},
		{"gate of a channel", graph.MulInt8, []any{"by", 0.0043, "a_zero", 9, "b_zero", 1, "zero", 8},
			[]operand{u8(19, 4, 5), u8(19, 1, 1)}, bits},
		{"gate of 24 channels", graph.MulInt8, []any{"by", 0.0021, "a_zero", 200, "b_zero", 3, "zero", 99, "min",
			5}, []operand{u8(24, 7, 5), u8(24, 1, 1)}, bits},
		{"gates of 70 channels", graph.MulInt8, []any{"by", 0.0071, "a_zero", 120, "b_zero", 3, "zero", 90},
			[]operand{u8(70, 2, 3), u8(70, 1, 1)}, bits},
		{"one shape", graph.MulInt8, []any{"by", 1.0 / 128, "max", 200}, []operand{u8(6, 4, 5), u8(6, 4, 5)},
			bits},
		{"map", graph.TableInt8, nil, []operand{u8(17, 3, 5), whole(256).withType(tensor.U8).filledBy(bytes)},
			bits},
		{"one axis", graph.TableInt8, nil, []operand{u8(70), whole(256).withType(tensor.U8).filledBy(bytes)}, bits},
		{"channels", graph.ConcatInt8, nil, []operand{u8(3, 2, 2), u8(1, 2, 2), u8(16, 2, 2)}, bits},
		{"an axis of pixels", graph.ConcatInt8, []any{"axis", 1}, []operand{u8(3, 2, 4), u8(3, 5, 4)}, bits},
		{"channels and pixels", graph.PadInt8, []any{"before", []int{3, 0, 1}, "after", []int{2, 1, 0}, "zero", 77},
			[]operand{u8(16, 3, 4)}, bits},
		{"one axis, of zeros", graph.PadInt8, []any{"before", []int{0}, "after", []int{5}}, []operand{u8(9)}, bits},
		{"bytes, channels in another order", graph.Take, []any{"index", []int{4, 0, 4, 3, 1}},
			[]operand{u8(5, 3, 7)}, bits},
		{"bytes, every other pixel", graph.Slice, []any{"begin", []int{0, 0, 1}, "end", []int{9, 7, 8}, "step",
			[]int{1, 2, 2}}, []operand{u8(9, 7, 8)}, bits},
		{"70 channels of 5x5", graph.MaxPoolInt8, []any{"kernel", []int{3, 3}, "stride", []int{2, 2}},
			[]operand{u8(70, 5, 5)}, bits},
		{"33 channels of 7x7", graph.AvgPoolInt8, []any{"kernel", []int{7, 7}, "by", 0.93, "x_zero", 3, "zero", 4},
			[]operand{u8(33, 7, 7)}, bits},
	}
	for _, w := range pools {
		attrs := []any{"kernel", w.kernel[:], "stride", w.stride[:], "pad", w.pad[:]}
		x := []operand{u8(w.channels, w.h, w.w)}
		means := append(append([]any{}, attrs...), "by", 1.25, "x_zero", 20, "zero", 12)
		p = append(p, probe{w.name, graph.MaxPoolInt8, attrs, x, bits},
			probe{w.name, graph.AvgPoolInt8, means, x, bits},
			probe{w.name + ", padding counts", graph.AvgPoolInt8, append(means, "count_pad", true), x, bits})
	}
	return slices.Concat(p, convInt8Probes, weightProbes)
}
