package devicetest

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

var structureProbes = []probe{
	{"grey", graph.Image, []any{"scale", 1.0 / 255, "mean", []float64{0.1307}, "std", []float64{0.3081}},
		[]operand{rows(9, 7, 1).of(tensor.U8).with(bytes)}, bits},
	{"colour", graph.Image, []any{"mean", []float64{0.485, 0.456, 0.406}, "std", []float64{0.229, 0.224, 0.225}},
		[]operand{rows(5, 6, 3).of(tensor.U8).with(bytes)}, bits},
	{"blue first, neither mean nor deviation", graph.Image, []any{"bgr", true, "scale", 2.0 / 255},
		[]operand{rows(4, 4, 3).of(tensor.U8).with(bytes)}, bits},

	{"channels", graph.Concat, nil, []operand{rows(3, 2, 2), rows(1, 2, 2), rows(16, 2, 2)}, bits},
	{"last axis", graph.Concat, []any{"axis", 1}, []operand{rows(3, 2), rows(3, 5)}, bits},
	{"one operand", graph.Concat, nil, []operand{rows(16, 3)}, bits},
	{"whole", graph.Concat, nil, []operand{whole(3, 2), whole(4, 2)}, bits},
	{"every other pixel", graph.Slice, []any{"begin", []int{0, 0, 0}, "end", []int{16, 7, 8}, "step",
		[]int{1, 2, 2}},
		[]operand{rows(16, 7, 8)}, bits},
	{"part of each axis", graph.Slice, []any{"begin", []int{2, 1}, "end", []int{5, 2}},
		[]operand{rows(6, 3)}, bits},
	{"labels", graph.Slice, []any{"begin", []int{1}, "end", []int{4}, "step", []int{2}},
		[]operand{rows(5).of(tensor.I32).with(classes(9, -1))}, bits},
	{"every other pixel", graph.SliceGrad,
		[]any{"begin", []int{0, 0, 0}, "end", []int{16, 7, 8}, "step", []int{1, 2, 2}, "size", []int{16, 7, 8}},
		[]operand{rows(16, 4, 4)}, bits},
	{"part of each axis", graph.SliceGrad, []any{"begin", []int{2, 1}, "end", []int{5, 2}, "size", []int{6, 3}},
		[]operand{rows(3, 1)}, bits},
	{"f64", graph.SliceGrad, []any{"begin", []int{1}, "end", []int{4}, "step", []int{2}, "size", []int{5}},
		[]operand{rows(2).of(f64)}, bits},
	{"channels", graph.Pad, []any{"before", []int{8, 0, 0}, "after", []int{8, 0, 0}},
		[]operand{rows(16, 3, 3)}, bits},
	{"pixels, of ones", graph.Pad, []any{"before", []int{0, 2, 0}, "after", []int{0, 1, 3}, "value", 1.0},
		[]operand{rows(5, 3, 3)}, bits},
	{"f64, of tenths", graph.Pad, []any{"before", []int{1}, "after", []int{2}, "value", 0.1},
		[]operand{rows(3).of(f64)}, bits},
	{"flatten", graph.Reshape, []any{"shape", []int{90}}, []operand{rows(5, 3, 6)}, bits},
	{"flatten 16 channels", graph.Reshape, []any{"shape", []int{192}}, []operand{rows(16, 3, 4)}, bits},
	{"back", graph.Reshape, []any{"shape", []int{20, 2, 3}}, []operand{rows(120)}, bits},
	{"samples", graph.Reshape, []any{"shape", []int{1, 2}}, []operand{rows(2).of(tensor.I64).with(idents)},
		bits},
	{"channels last", graph.Transpose, []any{"perm", []int{1, 2, 0}}, []operand{rows(17, 3, 5)}, bits},
	{"whole matrix", graph.Transpose, []any{"perm", []int{1, 0}}, []operand{whole(3, 5)}, bits},

	{"nearest, twice", graph.Upsample, []any{"size", []int{6, 8}}, []operand{rows(16, 3, 4)}, bits},
	{"nearest, uneven, smaller", graph.Upsample, []any{"size", []int{7, 2}}, []operand{rows(3, 3, 4)}, bits},
	{"bilinear, twice", graph.Upsample, []any{"size", []int{6, 8}, "mode", "bilinear"},
		[]operand{rows(5, 3, 4)}, blended},
	{"bilinear, uneven, smaller", graph.Upsample, []any{"size", []int{7, 3}, "mode", "bilinear"},
		[]operand{rows(5, 3, 4)}, blended},
	{"bilinear, corners", graph.Upsample, []any{"size", []int{7, 1}, "mode", "bilinear", "align_corners", true},
		[]operand{rows(5, 3, 4)}, blended},
	{"nearest, twice", graph.UpsampleGrad, []any{"from", []int{3, 4}}, []operand{rows(16, 6, 8)}, blended},
	{"nearest, uneven", graph.UpsampleGrad, []any{"from", []int{3, 4}}, []operand{rows(3, 7, 2)}, blended},
	{"bilinear, twice", graph.UpsampleGrad, []any{"from", []int{3, 4}, "mode", "bilinear"},
		[]operand{rows(5, 6, 8)}, blended},
	{"bilinear, corners", graph.UpsampleGrad,
		[]any{"from", []int{3, 4}, "mode", "bilinear", "align_corners", true},
		[]operand{rows(5, 7, 1)}, blended},

	{"half", graph.Dropout, []any{"p", 0.5, "seed", 7}, dropped(17, 3, 3), bits},
	{"a tenth, another stream", graph.Dropout, []any{"p", 0.1, "seed", 7, "stream", 3}, dropped(130), bits},
	{"a seed of 64 bits", graph.Dropout, []any{"p", 0.3, "seed", -2}, dropped(5), bits},
	{"none", graph.Dropout, []any{"p", 0.0}, dropped(5), bits},
}

func dropped(shape ...int) []operand {
	return []operand{rows(shape...), rows(2).of(tensor.I64).with(idents)}
}
