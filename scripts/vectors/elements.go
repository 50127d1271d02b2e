package main

import (
	"github.com/bnctl/bnctl/graph"
)

// activations are all activations, with their attributes.
var activations = []node{
	{graph.Relu, nil, 1}, {graph.Relu6, nil, 1}, {graph.LeakyRelu, []any{"alpha", 0.1}, 1},
	{graph.Elu, []any{"alpha", 0.7}, 1}, {graph.Sigmoid, nil, 1},
	{graph.HardSigmoid, []any{"alpha", 0.2, "beta", 0.45}, 1}, {graph.Silu, nil, 1}, {graph.HardSwish, nil, 1},
	{graph.Tanh, nil, 1}, {graph.Softplus, nil, 1}, {graph.Clip, []any{"min", -1.5, "max", 2.5}, 1},
	{graph.Erf, nil, 1}, {graph.Gelu, nil, 1}, {graph.GeluTanh, nil, 1}, {graph.Mish, nil, 1},
}

// elementCases returns cases of functions of one element, arithmetic, comparisons and reductions.
func elementCases() []testCase {
	x := rows(67).with(every)
	var all []testCase
	for _, a := range activations {
		all = append(all, one(a.op, "every kind of number", a.attrs, x),
			one(graph.ActivationGrad, a.op.String(), append([]any{"of", a.op.String()}, a.attrs...), x, rows(67)),
			one(graph.ActivationGrad, a.op.String()+", any gradient", append([]any{"of", a.op.String()}, a.attrs...),
				rows(67), rows(67).with(every)))
	}
	all = append(all,
		one(graph.Gelu, "the half last", []any{"halve_last", true}, x),
		one(graph.GeluTanh, "the half last", []any{"halve_last", true}, x),
		one(graph.Clip, "f64", []any{"min", -0.5, "max", 0.5}, replica(13).f64()),
		one(graph.Prelu, "every kind of number", nil, rows(3, 17).with(every), whole(3)),
		one(graph.PreluGradInput, "every kind of number", nil, rows(3, 17).with(every), whole(3), rows(3, 17)),
		one(graph.PreluGradSlope, "3 channels", nil, rows(3, 17).with(few), rows(3, 17)).of(many),
		one(graph.Exp, "every kind of number", nil, x), one(graph.Exp, "f64", nil, whole(67).f64().with(every)),
		one(graph.Log, "every kind of number", nil, x), one(graph.Log, "f64", nil, whole(67).f64().with(every)),
		one(graph.Sqrt, "every kind of number", nil, x), one(graph.Sqrt, "f64", nil, whole(67).f64().with(every)),
		one(graph.Affine, "product and sum", []any{"by", 0.1, "add", -0.7}, x),
		one(graph.Affine, "product", []any{"by", -0.5}, x),
		one(graph.Affine, "f64", []any{"by", 0.1, "add", -0.7}, whole(17).f64().with(awkward)))
	for _, mode := range []string{"even", "floor", "ceil"} {
		all = append(all, one(graph.Round, mode, []any{"mode", mode}, rows(67).with(every)))
	}
	all = append(all, softmaxCases()...)
	all = append(all, pairCases()...)
	return append(all, reductionCases()...)
}

// softmaxCases returns cases of softmaxes and their gradients.
func softmaxCases() []testCase {
	var all []testCase
	for _, s := range []struct {
		about string
		axis  int
		shape []int
	}{{"10 classes", 0, []int{10}}, {"first axis", 0, []int{5, 3}}, {"last axis, more than a block", 1,
		[]int{2, 67}}} {
		axis, x := []any{"axis", s.axis}, rows(s.shape...)
		for _, op := range []graph.Op{graph.Softmax, graph.LogSoftmax} {
			all = append(all, thrice(one(op, s.about, axis, x))...)
			all = append(all, one(op, s.about+", masked", axis, x.with(listed(-100, 0.5, -87, -88, 1, -104, 0.25))))
		}
		all = append(all, one(graph.SoftmaxGrad, s.about, axis, x, x), one(graph.LogSoftmaxGrad, s.about, axis, x,
			x))
	}
	return all
}

// pairs are pairs of operands that broadcast to a common shape.
var pairs = []struct {
	about string
	a, b  operand
}{
	{"rows and rows", rows(3, 2, 5), rows(3, 2, 5)},
	{"rows and a channel", rows(3, 2, 5), whole(3, 1, 1)},
	{"rows and a number", rows(7), whole()},
	{"rows and replica", rows(3, 1, 2), replica(4, 1)},
	{"whole of f64", whole(3, 1).f64(), whole(1, 4).f64()},
}

// pairCases returns cases of operations of two operands.
func pairCases() []testCase {
	var all []testCase
	for i, p := range pairs {
		for _, op := range []graph.Op{graph.Add, graph.Sub, graph.Mul, graph.Div, graph.Max, graph.Min, graph.Pow} {
			all = append(all, thrice(one(op, p.about, nil, p.a, p.b))...)
		}
		of := graph.Comparisons[i%len(graph.Comparisons)]
		all = append(all, one(graph.Where, p.about, nil, p.a.with(few), p.b, p.a),
			one(graph.Compare, of+", "+p.about, []any{"of", of}, p.a.with(few), p.b.with(few)))
	}
	for _, of := range graph.Comparisons {
		all = append(all, one(graph.Compare, of+" 0", []any{"of", of}, rows(67).with(every)))
	}
	return append(all, one(graph.Where, "nothing", nil, rows(67).with(every), rows(67).with(every)),
		one(graph.Pow, "halves and wholes", nil, rows(67).with(every), rows(67).with(listed(0.5, 2, -1, 3, -0.5,
			0))))
}

// reductionCases returns cases of reductions, sums over rows and broadcasts.
func reductionCases() []testCase {
	var all []testCase
	for _, op := range []graph.Op{graph.ReduceSum, graph.ReduceMean, graph.ReduceMax, graph.ReduceMin,
		graph.ReduceProd} {
		all = append(all, thrice(one(op, "middle axis", []any{"axes", []int{1}}, rows(3, 5, 4)))...)
		all = append(all, one(op, "outer axes, kept", []any{"axes", []int{0, 2}, "keep", true}, rows(3, 5, 4)),
			one(op, "replica of f64", []any{"axes", []int{0}}, replica(9).f64()))
	}
	return append(all,
		one(graph.BroadcastTo, "new and stretched axes", []any{"shape", []int{2, 3, 4, 5}}, rows(3, 1, 5)),
		one(graph.SumRows, "5x7", nil, rows(5, 7).with(spread)).of(many),
		one(graph.SumRows, "numbers of f64", nil, rows().f64()).of(many))
}

// poolCases returns cases of pools and their gradients.
func poolCases() []testCase {
	all := []testCase{
		one(graph.GlobalAvgPoolGrad, "3 channels of 3x7", []any{"size", []int{3, 7}}, rows(3, 1, 1)),
		one(graph.GlobalAvgPool, "more than a block", nil, rows(2, 9, 9)),
	}
	all = append(all, thrice(one(graph.GlobalAvgPool, "3 channels of 3x7", nil, rows(3, 3, 7)))...)
	for _, p := range pools {
		w := window{kernel: p.kernel, stride: p.stride, pad: p.pad}
		attrs := func(more ...any) []any {
			return append([]any{"kernel", p.kernel[:], "stride", ones(p.stride), "pad", p.pad[:]}, more...)
		}
		x, dy := rows(3, p.h, p.w), rows(3, w.extent(0, p.h), w.extent(1, p.w))
		all = append(all, thrice(one(graph.MaxPool, p.about, attrs(), x))...)
		all = append(all, thrice(one(graph.AvgPool, p.about, attrs(), x))...)
		all = append(all, one(graph.MaxPoolGrad, p.about, attrs(), x, dy),
			one(graph.MaxPoolGrad, p.about+", ties", attrs(), x.with(few), dy),
			one(graph.AvgPool, p.about+", padding counts", attrs("count_pad", true), x),
			one(graph.AvgPoolGrad, p.about, attrs("size", []int{p.h, p.w}), dy),
			one(graph.AvgPoolGrad, p.about+", padding counts", attrs("size", []int{p.h, p.w}, "count_pad", true), dy))
	}
	return all
}

// pools are the windows of pools over images of 3 channels.
var pools = []struct {
	about          string
	h, w           int
	kernel, stride [2]int
	pad            [4]int
}{
	{"2x2 with stride 2", 5, 7, [2]int{2, 2}, [2]int{2, 2}, [4]int{}},
	{"3x2, uneven padding", 4, 5, [2]int{3, 2}, [2]int{1, 2}, [4]int{2, 0, 0, 1}},
}
