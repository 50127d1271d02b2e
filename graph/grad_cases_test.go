package graph_test

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

type (
	builder = graph.Builder
	value   = graph.Value
)

func rows(b *builder, name string, shape ...int) value {
	return b.Input(name, graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: shape})
}

func state(b *builder, name string, role graph.Role, shape ...int) value {
	return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: role})
}

func labels(b *builder, shape ...int) value {
	return b.Input("labels", graph.Type{Kind: graph.Rows, DType: tensor.I32, Shape: shape})
}

// unary returns a case of op on awkward rows. The operand is scaled by up to
// 4 so that it visits all pieces of the activations.
func unary(op graph.Op, pairs ...any) gradCase {
	return gradCase{op.String(), func(b *builder) value {
		x := b.Op(graph.Affine, "wide", []value{rows(b, "x", 3, 2, 3)}, "by", 4.0, "add", 0.25)
		return b.Op(op, "y", []value{x}, pairs...)
	}}
}

// binary returns a case of op with operands that broadcast. The values of the right operand are not close to
// 0.
func binary(op graph.Op) gradCase {
	return gradCase{op.String(), func(b *builder) value {
		x, channel := rows(b, "x", 3, 2, 2), state(b, "channel", graph.Weight, 3, 1, 1)
		away := func(v value, name string) value {
			return b.Op(graph.Affine, name, []value{b.Op(graph.Sigmoid, name+".sigmoid", []value{v})}, "add", 0.5)
		}
		y := b.Op(op, "whole", []value{x, away(channel, "c")})
		y = b.Op(op, "last", []value{y, away(state(b, "last", graph.Bias, 2), "l")})
		y = b.Op(op, "line", []value{y, away(rows(b, "z", 2, 1), "z2")})
		y = b.Op(op, "scalar", []value{state(b, "scalar", graph.Weight), away(y, "s")})
		return b.Op(op, "square", []value{y, away(y, "y2")})
	}}
}

// extreme returns a case of max or min with operands that broadcast.
func extreme(op graph.Op) gradCase {
	return gradCase{op.String(), func(b *builder) value {
		x, channel := rows(b, "x", 3, 2, 2), state(b, "channel", graph.Weight, 3, 1, 1)
		y := b.Op(op, "y", []value{x, channel})
		return b.Op(op, "z", []value{rows(b, "line", 2, 1), y})
	}}
}

// weights returns a case of a product with kernel and bias.
func weights(name string, op graph.Op, x, kernel []int, bias int, pairs ...any) gradCase {
	return gradCase{name, func(b *builder) value {
		return b.Op(op, "y", []value{rows(b, "x", x...), state(b, "w", graph.Weight, kernel...),
			state(b, "bias", graph.Bias, bias)}, pairs...)
	}}
}

// matrices returns a case of a product of two values, and of a weight with that product.
func matrices(name string, x, y []int, turnX, turnY bool) gradCase {
	return gradCase{name, func(b *builder) value {
		z := b.Op(graph.MatMul, "z", []value{rows(b, "x", x...), rows(b, "y", y...)}, "transpose_a", turnX,
			"transpose_b", turnY)
		s := b.Type(z).Shape
		w := state(b, "w", graph.Weight, 3, s[len(s)-2])
		return b.Op(graph.MatMul, "wz", []value{w, z})
	}}
}

// structure returns a case of an operation that moves elements.
func structure(name string, op graph.Op, shape []int, pairs ...any) gradCase {
	return gradCase{name, func(b *builder) value {
		return b.Op(op, "y", []value{rows(b, "x", shape...)}, pairs...)
	}}
}

// norm returns a case of normalise. moments computes the moments from x and the running moments.
func norm(name, over string, moments func(b *builder, x, running value) value, shape ...int) gradCase {
	return gradCase{name, func(b *builder) value {
		x, c := rows(b, "x", shape...), shape[0]
		running := b.Op(graph.RunningMoments, "running",
			[]value{state(b, "mean", graph.Mean, c), state(b, "var", graph.Variance, c)})
		m := moments(b, x, running)
		return b.Op(graph.Normalise, "y", []value{x, m, state(b, "gamma", graph.Gamma, c),
			state(b, "beta", graph.Beta, c)}, "over", over, "eps", 0.01)
	}}
}

func ofReplica(b *builder, x, _ value) value { return b.Op(graph.Moments, "m", []value{x}) }

func ofBatch(b *builder, x, _ value) value {
	return b.Op(graph.AllReduce, "all", []value{ofReplica(b, x, 0)}, "of", "moments")
}

// selected returns the moments of each replica, but the running statistics for the replica with 2
// rows of 3 elements.
func selected(b *builder, x, running value) value {
	return b.Op(graph.SelectMoments, "some", []value{ofReplica(b, x, 0), running}, "min", 7)
}

func loss(name string, pairs ...any) gradCase {
	return gradCase{name, func(b *builder) value {
		x := b.Op(graph.Affine, "logits", []value{rows(b, "x", 3, 2)}, "by", 2.0)
		return b.Op(graph.SoftmaxXent, "loss", []value{x, labels(b, 2)}, pairs...)
	}}
}

// rowNorm returns a case of a row norm with the given shape of scale and bias.
func rowNorm(name string, op graph.Op, x, scale []int, pairs ...any) gradCase {
	return gradCase{name, func(b *builder) value {
		return b.Op(op, "y", []value{rows(b, "x", x...), state(b, "scale", graph.Gamma, scale...),
			state(b, "bias", graph.Beta, scale...)}, append(pairs, "eps", 0.01)...)
	}}
}

// bare returns a case of a norm without scale and bias, or with bias alone.
func bare(name string, op graph.Op, bias bool, pairs ...any) gradCase {
	return gradCase{name, func(b *builder) value {
		in := []value{rows(b, "x", 4, 3)}
		if bias {
			in = append(in, graph.None, state(b, "bias", graph.Beta, 4))
		}
		return b.Op(op, "y", in, append(pairs, "eps", 0.01)...)
	}}
}

type gradCase struct {
	name  string
	build func(b *builder) value
}

var gradCases = []gradCase{
	weights("conv", graph.Conv, []int{2, 5, 4}, []int{3, 2, 3, 2}, 3, "pad", []int{1, 0, 2, 1}),
	weights("conv stride", graph.Conv, []int{2, 6, 5}, []int{3, 2, 3, 1}, 3, "stride", []int{2, 3}, "pad",
		[]int{0, 1, 0, 0}),
	weights("conv dilation", graph.Conv, []int{1, 6, 5}, []int{2, 1, 2, 3}, 2, "dilation", []int{3, 2}, "pad",
		[]int{1, 1, 0, 0}),
	weights("conv groups", graph.Conv, []int{4, 3, 3}, []int{6, 2, 2, 2}, 6, "groups", 2),
	weights("conv depthwise", graph.Conv, []int{3, 4, 4}, []int{3, 1, 3, 3}, 3, "groups", 3, "stride",
		[]int{2, 1}, "pad", []int{1, 1, 1, 1}),
	weights("conv_transpose", graph.ConvTranspose, []int{2, 3, 2}, []int{2, 3, 3, 2}, 3, "stride", []int{2, 3},
		"pad", []int{1, 0, 0, 1}),
	weights("conv_transpose output_pad", graph.ConvTranspose, []int{2, 3, 2}, []int{2, 1, 2, 2}, 1,
		"stride", []int{2, 2}, "output_pad", []int{1, 1}),
	weights("conv_transpose beyond", graph.ConvTranspose, []int{2, 3, 2}, []int{2, 1, 2, 2}, 1,
		"dilation", []int{3, 3}, "stride", []int{1, 2}, "output_pad", []int{2, 1}),
	weights("conv_transpose groups", graph.ConvTranspose, []int{4, 2, 3}, []int{4, 3, 2, 2}, 6, "groups", 2),
	weights("dense", graph.Dense, []int{4}, []int{3, 4}, 3),
	weights("dense leading", graph.Dense, []int{2, 3, 4}, []int{3, 4}, 3, "leading", 2),
	matrices("matmul", []int{2, 3}, []int{3, 4}, false, false),
	matrices("matmul transpose_a", []int{2, 3, 2}, []int{3, 4}, true, false),
	matrices("matmul transpose_b", []int{1, 2, 3}, []int{2, 4, 3}, false, true),
	matrices("matmul both", []int{2, 1, 3, 2}, []int{3, 4, 3}, true, true),
	{"shared weight", func(b *builder) value {
		x, w := rows(b, "x", 3), state(b, "w", graph.Weight, 3, 3)
		y := b.Op(graph.Tanh, "t", []value{b.Op(graph.Dense, "y", []value{x, w})})
		return b.Op(graph.Dense, "z", []value{b.Op(graph.Add, "s", []value{y, x}), w})
	}},
	{"computed weight", func(b *builder) value {
		w := state(b, "w", graph.Weight, 3, 4)
		mean := b.Op(graph.ReduceMean, "mean", []value{w}, "axes", []int{1}, "keep", true)
		centred := b.Op(graph.Tanh, "tanh", []value{b.Op(graph.Sub, "centred", []value{w, mean})})
		return b.Op(graph.Dense, "y", []value{rows(b, "x", 4), centred})
	}},

	norm("normalise batch", "batch", ofBatch, 2, 3),
	norm("normalise batch image", "batch", ofBatch, 2, 3, 2),
	norm("normalise replica", "replica", ofReplica, 2, 3),
	norm("normalise rank 1", "replica", ofReplica, 4),
	norm("normalise selected", "replica", selected, 2, 3),
	norm("normalise running", "batch", func(_ *builder, _, running value) value { return running }, 2, 3),
	{"normalise shared", func(b *builder) value {
		gamma, beta := state(b, "gamma", graph.Gamma, 2), state(b, "beta", graph.Beta, 2)
		x := rows(b, "x", 2, 3)
		y := b.Op(graph.Normalise, "y", []value{x, ofBatch(b, x, 0), gamma, beta})
		s := b.Op(graph.Reshape, "s", []value{gamma}, "shape", []int{2, 1})
		return b.Op(graph.Mul, "z", []value{y, s})
	}},
	{"batch_norm", func(b *builder) value {
		return b.Op(graph.BatchNorm, "y", []value{rows(b, "x", 3, 2, 2), state(b, "gamma", graph.Gamma, 3),
			state(b, "beta", graph.Beta, 3), state(b, "mean", graph.Mean, 3), state(b, "var", graph.Variance, 3)},
			"eps", 0.01)
	}},
	rowNorm("layer_norm", graph.LayerNorm, []int{2, 3, 4}, []int{4}, "axes", []int{2}),
	rowNorm("layer_norm over two axes", graph.LayerNorm, []int{2, 3, 4}, []int{3, 4}, "axes", []int{1, 2}),
	rowNorm("layer_norm of channels", graph.LayerNorm, []int{5, 3, 2}, []int{5}, "axes", []int{0}),
	rowNorm("layer_norm between", graph.LayerNorm, []int{2, 5, 3}, []int{5}, "axes", []int{1}),
	rowNorm("layer_norm of all", graph.LayerNorm, []int{2, 3}, []int{2, 3}, "axes", []int{0, 1}),
	rowNorm("layer_norm rank 1", graph.LayerNorm, []int{7}, []int{7}, "axes", []int{0}),
	bare("layer_norm without scale", graph.LayerNorm, false, "axes", []int{1}),
	bare("layer_norm with bias", graph.LayerNorm, true, "axes", []int{0}),
	rowNorm("group_norm", graph.GroupNorm, []int{4, 3, 2}, []int{4}, "groups", 2),
	rowNorm("group_norm of one group", graph.GroupNorm, []int{3, 2}, []int{3}, "groups", 1),
	rowNorm("group_norm rank 1", graph.GroupNorm, []int{6}, []int{6}, "groups", 2),
	rowNorm("instance norm", graph.GroupNorm, []int{3, 2, 4}, []int{3}, "groups", 3),
	bare("group_norm without scale", graph.GroupNorm, false, "groups", 2),
	bare("group_norm with bias", graph.GroupNorm, true, "groups", 4),

	unary(graph.Relu), unary(graph.Relu6), unary(graph.LeakyRelu, "alpha", 0.25), unary(graph.Elu, "alpha", 1.5),
	unary(graph.Sigmoid), unary(graph.HardSigmoid, "alpha", 0.25, "beta", 0.375), unary(graph.HardSigmoid),
	unary(graph.Silu), unary(graph.HardSwish), unary(graph.Tanh), unary(graph.Softplus),
	unary(graph.Erf), unary(graph.Gelu), unary(graph.GeluTanh, "halve_last", true), unary(graph.Mish),
	unary(graph.Clip, "min", -1.0, "max", 2.5), unary(graph.Softmax, "axis", 1),
	unary(graph.LogSoftmax, "axis", 2),
	{"prelu", func(b *builder) value {
		return b.Op(graph.Prelu, "y", []value{rows(b, "x", 2, 3, 2), state(b, "slope", graph.Weight, 2)})
	}},

	structure("max_pool", graph.MaxPool, []int{2, 5, 4}, "kernel", []int{3, 2}, "stride", []int{2, 1}, "pad",
		[]int{1, 0, 1, 1}),
	structure("avg_pool", graph.AvgPool, []int{2, 5, 4}, "kernel", []int{3, 2}, "stride", []int{2, 1}, "pad",
		[]int{1, 0, 1, 1}),
	structure("avg_pool count_pad", graph.AvgPool, []int{2, 5, 4}, "kernel", []int{3, 2}, "stride", []int{2, 2},
		"pad", []int{0, 1, 1, 0}, "count_pad", true),
	structure("global_avg_pool", graph.GlobalAvgPool, []int{3, 2, 5}),

	binary(graph.Add), binary(graph.Sub), binary(graph.Mul), binary(graph.Div),
	{"exp log sqrt", func(b *builder) value {
		e := b.Op(graph.Exp, "e", []value{rows(b, "x", 4)})
		l := b.Op(graph.Log, "l", []value{b.Op(graph.Affine, "a", []value{e}, "by", 2.0, "add", 0.5)})
		return b.Op(graph.Mul, "y", []value{l, b.Op(graph.Sqrt, "s", []value{e})})
	}},
	structure("reduce_sum", graph.ReduceSum, []int{3, 2, 4}, "axes", []int{0, 2}),
	structure("reduce_sum keep", graph.ReduceSum, []int{3, 2, 4}, "axes", []int{1}, "keep", true),
	structure("reduce_mean", graph.ReduceMean, []int{3, 2, 4}, "axes", []int{1, 2}),
	extreme(graph.Max), extreme(graph.Min),
	{"pow", func(b *builder) value {
		x := b.Op(graph.Affine, "above", []value{b.Op(graph.Sigmoid, "s", []value{rows(b, "x", 3, 2)})}, "add", 0.5)
		y := b.Op(graph.Pow, "y", []value{x, state(b, "exponent", graph.Weight, 3, 1)})
		return b.Op(graph.Pow, "z", []value{state(b, "base", graph.Variance), y})
	}},
	{"where compare", func(b *builder) value {
		x, z := rows(b, "x", 3, 2), rows(b, "z", 3, 1)
		channel := b.Op(graph.Where, "some", []value{x, state(b, "channel", graph.Weight, 2)})
		above := b.Op(graph.Compare, "above", []value{x, z}, "of", "greater")
		y := b.Op(graph.Where, "either", []value{above, b.Op(graph.Mul, "xz", []value{x, z}), channel})
		return b.Op(graph.Where, "y", []value{b.Op(graph.Compare, "positive", []value{z}, "of", "less"), z, y})
	}},
	{"round", func(b *builder) value {
		x := rows(b, "x", 3, 4)
		return b.Op(graph.Mul, "y", []value{x, b.Op(graph.Round, "r", []value{x})})
	}},
	structure("reduce_max", graph.ReduceMax, []int{3, 2, 4}, "axes", []int{0, 2}),
	structure("reduce_min keep", graph.ReduceMin, []int{3, 2, 4}, "axes", []int{1}, "keep", true),
	structure("reduce_prod", graph.ReduceProd, []int{3, 2, 4}, "axes", []int{0, 2}),
	structure("reduce_prod keep", graph.ReduceProd, []int{3, 2}, "axes", []int{0}, "keep", true),
	structure("broadcast_to", graph.BroadcastTo, []int{3, 1}, "shape", []int{2, 3, 4}),

	{"concat", func(b *builder) value {
		x, y := rows(b, "x", 2, 3), rows(b, "y", 2, 1)
		return b.Op(graph.Concat, "z", []value{x, y, x}, "axis", 1)
	}},
	structure("slice", graph.Slice, []int{5, 4}, "begin", []int{1, 0}, "end", []int{5, 3}, "step", []int{3, 2}),
	{"slices side by side", func(b *builder) value {
		x := b.Op(graph.Tanh, "t", []value{rows(b, "x", 2, 5)})
		first, last := cut(b, x, []int{0, 0}, []int{2, 2}), cut(b, x, []int{0, 2}, []int{2, 5})
		square := b.Op(graph.Mul, "square", []value{first, first})
		return b.Op(graph.Mul, "y", []value{x, b.Op(graph.Concat, "z", []value{last, square}, "axis", 1)})
	}},
	{"slices that overlap, or leave some out", func(b *builder) value {
		x, y := rows(b, "x", 4, 3), rows(b, "y", 4, 3)
		return b.Op(graph.Concat, "z", []value{
			cut(b, x, []int{0, 0}, []int{3, 3}), cut(b, x, []int{2, 0}, []int{4, 3}),
			cut(b, y, []int{0, 0}, []int{1, 3}), cut(b, y, []int{2, 0}, []int{4, 3})})
	}},
	structure("pad", graph.Pad, []int{2, 3}, "before", []int{1, 0}, "after", []int{0, 2}, "value", 0.5),
	structure("take", graph.Take, []int{3, 4, 2}, "axis", 1, "index", []int{3, 0, 0, 2, 3, 0}),
	structure("take in another order", graph.Take, []int{2, 4}, "axis", 1, "index", []int{2, 0, 3, 1}),
	structure("take first axis", graph.Take, []int{4, 2}, "index", []int{3, 2, 1, 0}),
	structure("reshape", graph.Reshape, []int{2, 3}, "shape", []int{3, 1, 2}),
	structure("transpose", graph.Transpose, []int{2, 3, 4}, "perm", []int{2, 0, 1}),
	structure("upsample", graph.Upsample, []int{2, 2, 3}, "size", []int{5, 6}),
	structure("upsample bilinear", graph.Upsample, []int{2, 2, 3}, "size", []int{5, 6}, "mode", "bilinear"),
	structure("upsample corners", graph.Upsample, []int{2, 3, 4}, "size", []int{5, 2}, "mode", "bilinear",
		"align_corners", true),
	{"dropout", func(b *builder) value {
		ident := b.Input("ident", graph.Type{Kind: graph.Rows, DType: tensor.I64, Shape: []int{2}})
		return b.Op(graph.Dropout, "y", []value{rows(b, "x", 7), ident}, "p", 0.25, "seed", 7)
	}},

	loss("softmax_xent"),
	loss("softmax_xent smoothing", "smoothing", 0.2),
	{"softmax_xent weights", func(b *builder) value {
		return b.Op(graph.SoftmaxXent, "loss", []value{rows(b, "x", 3), labels(b), rows(b, sampleWeight)})
	}},
}

// cut is a slice of x.
func cut(b *builder, x value, begin, end []int) value {
	return b.Op(graph.Slice, fmt.Sprintf("cut%d.%d.%d", x, begin[0], begin[1]), []value{x}, "begin", begin, "end", end)
}
