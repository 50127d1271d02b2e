package main

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// structureCases returns cases of operations that move elements.
func structureCases() []testCase {
	dropped := func(shape ...int) []operand {
		return []operand{rows(shape...),
			rows(2).of(tensor.I64).with(idents)}
	}
	picture := func(c int) operand { return rows(5, 4, c).of(tensor.U8).with(bytes) }
	twice := []int{6, 8}
	return []testCase{
		one(graph.Image, "grey", []any{"mean", []float64{0.1307}, "std", []float64{0.3081}}, picture(1)),
		one(graph.Image, "colour", []any{"mean", []float64{0.485, 0.456, 0.406}, "std",
			[]float64{0.229, 0.224, 0.225}}, picture(3)),
		one(graph.Image, "blue first", []any{"bgr", true, "scale", 2.0 / 255}, picture(3)),
		one(graph.Concat, "channels", nil, rows(3, 2, 2).with(every), rows(1, 2, 2), rows(4, 2, 2)),
		one(graph.Concat, "last axis", []any{"axis", 1}, rows(3, 2), rows(3, 5)),
		one(graph.Slice, "every other pixel", []any{"begin", []int{0, 0, 1}, "end", []int{3, 7, 8}, "step",
			[]int{1, 2, 2}}, rows(3, 7, 8).with(every)),
		one(graph.Slice, "labels", []any{"begin", []int{1}, "end", []int{4}, "step", []int{2}},
			rows(5).of(tensor.I32).with(classes(9, -1))),
		one(graph.SliceGrad, "every other pixel", []any{"begin", []int{0, 0, 0}, "end", []int{3, 5, 5}, "step",
			[]int{1, 2, 2}, "size", []int{3, 5, 5}}, rows(3, 3, 3)),
		one(graph.Pad, "pixels, of ones", []any{"before", []int{0, 2, 0}, "after", []int{0, 1, 3}, "value", 1.0},
			rows(2, 3, 3).with(every)),
		one(graph.Reshape, "flatten", []any{"shape", []int{30}}, rows(5, 3, 2)),
		one(graph.Transpose, "channels last", []any{"perm", []int{1, 2, 0}}, rows(4, 3, 5)),
		one(graph.Take, "channels, some of them twice", []any{"index", []int{0, 4, 1, 4, 2}}, rows(5, 2, 3)),
		one(graph.TakeGrad, "channels, some of them twice", []any{"index", []int{0, 4, 1, 4, 4}, "size",
			[]int{5, 2, 3}}, rows(5, 2, 3).with(spread)),
		one(graph.Upsample, "nearest, uneven, smaller", []any{"size", []int{7, 2}}, rows(3, 3, 4)),
		one(graph.Upsample, "bilinear, twice", []any{"size", twice, "mode", "bilinear"}, rows(2, 3, 4)),
		one(graph.Upsample, "bilinear, corners", []any{"size", []int{7, 1}, "mode", "bilinear", "align_corners",
			true},
			rows(2, 3, 4)),
		one(graph.UpsampleGrad, "nearest, uneven", []any{"from", []int{3, 4}}, rows(3, 7, 2)),
		one(graph.UpsampleGrad, "bilinear, twice", []any{"from", []int{3, 4}, "mode", "bilinear"}, rows(2, 6, 8)),
		one(graph.UpsampleGrad, "bilinear, corners", []any{"from", []int{3, 4}, "mode", "bilinear", "align_corners",
			true}, rows(2, 7, 1)),
		one(graph.Dropout, "half", []any{"p", 0.5, "seed", 7}, dropped(3, 5)...),
		one(graph.Dropout, "a tenth, another stream", []any{"p", 0.1, "seed", 7, "stream", 3}, dropped(67)...),
		one(graph.Dropout, "a negative seed", []any{"p", 0.3, "seed", -2}, dropped(5)...),
	}
}

func labels(n, ignore int, shape ...int) operand {
	return rows(shape...).of(tensor.I32).with(classes(n, ignore))
}

// byClass is an attribute: the weights of 5 classes in a loss.
var byClass = []any{"weights", []float64{0.5, 3, 0, 1, 0.1}}

// lossCases returns cases of losses, their gradients, and the counts of right answers.
func lossCases() []testCase {
	weight, inverse := rows().with(positive), scalar(0.03125)
	var all []testCase
	for _, c := range []struct {
		about  string
		attrs  []any
		x, l   operand
		weight operand
	}{
		{"10 classes", nil, rows(10), labels(10, -1), operand{}},
		{"far apart", nil, rows(10).with(spread), labels(10, -1), weight},
		{"zeros and subnormals", nil, rows(7).with(awkward), labels(7, -1), operand{}},
		{"smoothed", []any{"smoothing", 0.1}, rows(10), labels(10, -1), weight},
		{"pixels, ignoring 255", []any{"ignore", 255}, rows(5, 3, 2), labels(5, 255, 3, 2), operand{}},
		{"weighted by class", byClass, rows(5, 3, 2), labels(5, -1, 3, 2), weight},
		{"weighted by class, smoothed", append([]any{"smoothing", 0.1, "weighted_targets", true}, byClass...),
			rows(5, 3, 2), labels(5, -1, 3, 2), weight},
		{"infinities and NaN", nil, rows(4, 3).with(special), labels(4, -1, 3), operand{}},
	} {
		all = append(all, one(graph.SoftmaxXent, c.about, c.attrs, c.x, c.l, c.weight).of(many),
			one(graph.SoftmaxXentGrad, c.about, c.attrs, c.x, c.l, inverse, c.weight))
	}
	return append(all, one(graph.Correct, "10 classes", nil, rows(10), labels(10, -1)).of(many),
		one(graph.Correct, "ties, pixels", []any{"ignore", 255}, rows(4, 3).with(few), labels(4, 255, 3)).of(many))
}

// tensors returns n operands that have the same shape.
func tensors(n int, f filler, shape ...int) []operand {
	var in []operand
	for range n {
		in = append(in, whole(shape...).with(f))
	}
	return in
}

// updateCases returns cases of the update steps of optimizers, and of the norms that they use.
func updateCases() []testCase {
	var all []testCase
	for about, f := range map[string]filler{"": spread, ", zeros and subnormals": awkward} {
		w := func(n int, more ...operand) []operand { return append(tensors(n, f, 5, 7), more...) }
		all = append(all,
			one(graph.SGD, "momentum and decay"+about, []any{"momentum", 0.9, "weight_decay", 1e-4}, w(3,
				scalar(0.1))...),
			one(graph.SGD, "nesterov"+about, []any{"momentum", 0.9, "weight_decay", 5e-4, "nesterov", true},
				w(3, scalar(0.0123))...),
			one(graph.SGD, "plain"+about, []any{"momentum", 0.0}, w(3, scalar(0.1))...),
			one(graph.AdamW, "decay"+about, []any{"weight_decay", 0.05},
				w(3, whole(5, 7).with(positive), scalar(0.001), scalar(0.0023), scalar(1.7))...),
			one(graph.LARS, "decay"+about, []any{"momentum", 0.9, "weight_decay", 1e-4},
				w(3, scalar(0.1), scalar(0.002))...),
			one(graph.EMA, "slow"+about, []any{"decay", 0.9999}, w(2)...))
	}
	norm := func(v float64) operand { return scalar(v).f64() }
	return append(all,
		one(graph.SumSquares, "one element", nil, whole(1)),
		one(graph.SumSquares, "an odd length", nil, whole(131).with(awkward)),
		one(graph.SumSquares, "more than two blocks", nil, whole(2100).with(spread)),
		one(graph.TrustRatio, "norms", []any{"weight_decay", 1e-4}, norm(3.7), norm(0.02)),
		one(graph.TrustRatio, "weight 0", nil, norm(0), norm(1)),
		one(graph.ClipFactor, "above", []any{"max", 1.0}, norm(7.3)),
		one(graph.ClipFactor, "below", []any{"max", 1.0}, norm(0.3)))
}
