package main

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func u8(shape ...int) operand { return rows(shape...).of(tensor.U8).with(bytes) }

func i8(f filler, shape ...int) operand { return whole(shape...).of(tensor.I8).with(f) }

// weights fills t with all values of int8, as weights.
func weights(d *tensor.Draws, t tensor.Tensor) {
	for i := range tensor.View[int8](t) {
		tensor.View[int8](t)[i] = int8(d.Uint32())
	}
}

// outermost fills t with the largest and the smallest weight, so that sums become as large as possible.
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

// products returns the operands of a product of bytes with a weight of this shape. bias is the largest value
// of the bias.
func products(x operand, w filler, bias int, shape ...int) []operand {
	n := tensor.Count(shape[1:])
	return []operand{x, i8(w, shape...),
		whole(shape[0]).of(tensor.I32).with(func(d *tensor.Draws, t tensor.Tensor) {
			for i := range t.I32() {
				t.I32()[i] = int32(d.Intn(2*bias+1) - bias)
			}
		}),
		whole(shape[0]).with(func(d *tensor.Draws, t tensor.Tensor) {
			set(t, func(i int) float64 {
				if i%4 == 0 {
					return 1.0 / 1024
				}
				return d.Between(0.5, 1.5) / float64(16*n)
			})
		})}
}

// int8Cases returns cases of all operations on bytes.
func int8Cases() []testCase {
	pad := []any{"pad", []int{1, 1, 1, 1}}
	image := u8(3, 5, 6)
	all := []testCase{
		one(graph.ConvInt8, "3x3, padding", append(pad, "x_zero", 117, "zero", 9), products(u8(5, 4, 5), weights,
			5000,
			7, 5, 3, 3)...),
		one(graph.ConvInt8, "stride 2, bounds", append(pad, "stride", []int{2, 2}, "x_zero", 121, "zero", 100,
			"min",
			100, "max", 180), products(u8(3, 7, 6), weights, 900, 5, 3, 3, 3)...),
		one(graph.ConvInt8, "groups, dilation", []any{"groups", 3, "dilation", []int{1, 2}, "pad", []int{0, 2, 1,
			1},
			"x_zero", 1, "zero", 255}, products(u8(6, 5, 7), weights, 10, 6, 2, 2, 3)...),
		one(graph.ConvInt8, "depthwise", append(pad, "groups", 7, "x_zero", 3, "zero", 60), products(u8(7, 5, 6),
			weights, 500, 7, 1, 3, 3)...),
		one(graph.ConvInt8, "float", append(pad, "x_zero", 30, "float", true), products(u8(4, 4, 5), weights,
			5000, 5,
			4, 3, 3)...),
		one(graph.ConvInt8, "sums that saturate 16 bits", []any{"zero", 120}, products(u8(20, 3, 3).with(full),
			outermost, 1<<20, 5, 20, 3, 3)...),
		one(graph.DenseInt8, "17 to 5", []any{"x_zero", 4, "zero", 77}, products(u8(17), weights, 300, 5, 17)...),
		one(graph.DenseInt8, "float", []any{"x_zero", 4, "float", true}, products(u8(64), weights, 300, 5, 64)...),
		one(graph.DenseInt8, "long sums", []any{"zero", 128}, products(u8(1000).with(full), outermost, 1<<30, 3,
			1000)...),
		one(graph.Quantize, "halves of a step", []any{"scale", 0.25, "zero", 3},
			rows(63).with(listed(-1, -0.125, 0.125, 0.375, 0.625, 63, 64, 1e9, -1e9))),
		one(graph.Quantize, "every kind of number", []any{"scale", 0.1, "zero", 128}, rows(67).with(every)),
		one(graph.Dequantize, "a scale of many bits", []any{"scale", 0.017324, "zero", 131}, u8(5, 7)),
		one(graph.AddInt8, "map", []any{"a_by", 0.731, "b_by", 1.37, "a_zero", 3, "b_zero", 128, "zero", 50, "min",
			50}, u8(4, 5, 3), u8(4, 5, 3)),
		one(graph.AddInt8, "halves", []any{"a_by", 0.5, "b_by", 0.25, "max", 150}, u8(77), u8(77)),
		one(graph.AddInt8, "joint, u8", []any{"a_by", 0.731, "b_by", 1.37, "a_zero", 3, "b_zero", 128, "zero", 51,
			"min", 50, "joint", "u8"}, u8(4, 5, 3), u8(4, 5, 3)),
		one(graph.AddInt8, "joint, i8, halves", []any{"a_by", 0.5, "b_by", 0.25, "a_zero", 100, "b_zero", 131,
			"zero", 77, "max", 150, "joint", "i8"}, u8(77), u8(77)),
		one(graph.MulInt8, "joint, halves", []any{"by", 0.0078125, "a_zero", 9, "b_zero", 3, "zero", 77, "joint",
			"u8"}, u8(3, 4, 5), u8(3, 4, 5)),
		one(graph.MulInt8, "joint, gate", []any{"by", 0.0078125, "a_zero", 9, "b_zero", 1, "zero", 9, "joint",
			"i8"}, u8(5, 4, 5), u8(5, 1, 1)),
		one(graph.MulInt8, "gate of a channel", []any{"by", 0.0043, "a_zero", 9, "b_zero", 1, "zero", 8}, u8(5, 4,
			5),
			u8(5, 1, 1)),
		one(graph.MulInt8, "one shape", []any{"by", 1.0 / 128, "max", 200}, u8(3, 4, 5), u8(3, 4, 5)),
		one(graph.TableInt8, "map", nil, u8(7, 3, 5), whole(256).of(tensor.U8).with(bytes)),
		one(graph.ConcatInt8, "channels", nil, u8(3, 2, 2), u8(1, 2, 2), u8(4, 2, 2)),
		one(graph.ConcatInt8, "an axis of pixels", []any{"axis", 1}, u8(3, 2, 4), u8(3, 5, 4)),
		one(graph.PadInt8, "channels and pixels", []any{"before", []int{3, 0, 1}, "after", []int{2, 1, 0}, "zero",
			77}, u8(4, 3, 4)),
		one(graph.QuantizeWeight, "3x3", []any{"x_scale", 0.0173, "scale", 0.031}, whole(5, 3, 3, 3), whole(5)),
		one(graph.QuantizeWeight, "depthwise", []any{"x_scale", 0.0173, "scale", 1.0}, whole(7, 1, 3, 3), whole(7)),
		one(graph.QuantizeWeight, "every kind of number", []any{"x_scale", 0.1, "scale", 0.5}, whole(9,
			7).with(every),
			whole(9).with(lonely)),
		one(graph.Take, "bytes", []any{"index", []int{4, 0, 4, 3, 1}}, u8(5, 3, 2)),
		one(graph.Slice, "bytes", []any{"begin", []int{0, 0, 1}, "end", []int{3, 5, 6}, "step", []int{1, 2, 2}},
			image),
	}
	for _, p := range pools {
		attrs := []any{"kernel", p.kernel[:], "stride", ones(p.stride), "pad", p.pad[:]}
		means := append([]any{"by", 1.25, "x_zero", 20, "zero", 12}, attrs...)
		all = append(all, one(graph.MaxPoolInt8, p.about, attrs, image), one(graph.AvgPoolInt8, p.about, means,
			image),
			one(graph.AvgPoolInt8, p.about+", padding counts", append(means, "count_pad", true), image))
	}
	return all
}

// cases returns the cases for all vectors.
func cases() []testCase {
	var all []testCase
	for _, list := range [][]testCase{productCases(), normCases(), elementCases(), poolCases(), structureCases(),
		lossCases(), updateCases(), detectCases(), int8Cases()} {
		all = append(all, list...)
	}
	return all
}
