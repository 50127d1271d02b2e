package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// TestPicked compares the positions and the elements that operators pick from 0, 1, 2 ...
// with the results of NumPy.
func TestPicked(t *testing.T) {
	turned := op("Neg", "x", "n")
	equal := op("Floor", "h", "e") // 0 0 1 1 2 2
	half := op("Mul", "x half", "h")
	for _, c := range []struct {
		name  string
		shape []int64
		nodes []*onnxpb.NodeProto
		want  []float64
	}{
		{"top 2", []int64{4}, nodes{ints("k", 2), op("TopK", "x k", "y i")}, []float64{3, 2}},
		{"their places", []int64{4}, nodes{ints("k", 2), op("TopK", "x k", "v i"),
			op("Cast", "i", "y", intAttr("to", 1))}, []float64{3, 2}},
		{"equal ones in their order", []int64{6}, nodes{half, equal, ints("k2", 4), op("TopK", "e k2", "v i"),
			op("Cast", "i", "y", intAttr("to", 1))}, []float64{4, 5, 2, 3}},
		{"the least", []int64{2, 3}, nodes{turned, ints("k", 1), op("TopK", "n k", "y i", intAttr("axis", 1),
			intAttr("largest", 0))}, []float64{-3, -4, -5}},
		{"place of the largest", []int64{2, 3}, nodes{turned, op("ArgMax", "n", "i", intAttr("axis", 2)),
			op("Cast", "i", "y", intAttr("to", 1))}, []float64{0, 0}},
		{"the last one", []int64{6}, nodes{half, equal, op("ArgMin", "e", "y", intAttr("axis", 1),
			intAttr("select_last_index", 1))}, []float64{1}},
		{"one hot", []int64{2}, nodes{ints("d", 3), op("OneHot", "x d off", "y")}, []float64{5, 7, 7, 7, 5, 7}},
		{"counted from the end", []int64{2}, nodes{turned, ints("d", 3), op("OneHot", "n d off", "y")},
			[]float64{5, 7, 7, 7, 7, 5}},
		{"whole numbers", []int64{4}, nodes{half, op("Neg", "h", "g"), op("Cast", "g", "i", intAttr("to", 7)),
			op("Cast", "i", "y", intAttr("to", 1))}, []float64{0, 0, -1, -1}},
		{"crop and pad", []int64{3, 2}, nodes{ints("s", 1, 4), op("CenterCropPad", "x s", "y",
			list64("axes", 1, 2))}, []float64{0, 2, 3, 0}},
		{"columns", []int64{4, 2}, nodes{ints("s", 2, 3), ints("b", 2, 2), op("Col2Im", "x s b", "y")},
			[]float64{0, 1 + 2, 3, 4, 5 + 6, 7}},
		{"dilated pool", []int64{1, 5, 5}, nodes{op("MaxPool", "x", "y", list64("kernel_shape", 2, 2),
			list64("dilations", 2, 2))}, []float64{12, 13, 14, 17, 18, 19, 22, 23, 24}},
		{"a part resized", []int64{1, 1, 4}, nodes{ints("z", 1, 2), op("Resize", "x roi  z", "y",
			list64("axes", 2, 3), textAttr("mode", "linear"), textAttr("coordinate_transformation_mode", cropping),
			floatAttr("extrapolation_value", 9))}, []float64{1.5, 9}},
	} {
		m := modelOf(18, 0, c.shape, map[string][]float32{"half": {0.5}, "off": {7, 5},
			"roi": {0, 0.5, 1, 1.5}}, c.nodes...)
		m.Graph.Initializer = slices.DeleteFunc(m.Graph.Initializer, func(p *onnxpb.TensorProto) bool {
			reads := func(n *onnxpb.NodeProto) bool { return slices.Contains(n.Input, p.Name) }
			return !slices.ContainsFunc(c.nodes, reads)
		})
		if got := evalCounting(t, m); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestAngles compares sines and their inverses with package math, to 3e-7.
func TestAngles(t *testing.T) {
	for kind, f := range map[string]func(float64) float64{"Sin": math.Sin, "Cos": math.Cos, "Tan": math.Tan,
		"Asin": math.Asin, "Acos": math.Acos, "Atan": math.Atan} {
		scale := float32(0.375)
		if kind == "Asin" || kind == "Acos" {
			scale = 0.0078125
		}
		m := modelOf(13, 0, []int64{201}, map[string][]float32{"k": {scale}, "z": {-100}}, op("Add", "x z", "c"),
			op("Mul", "c k", "a"), op(kind, "a", "y"))
		for i, got := range evalCounting(t, m) {
			want := f(float64(float32(i-100)) * float64(scale))
			if math.Abs(got-want) > 3e-7*max(1, math.Abs(want)) {
				t.Errorf("%s of %g is %v, want %v", kind, float32(i-100)*scale, got, want)
			}
		}
	}
}

// TestManyPicks: a small file does not become a graph of millions of nodes.
func TestManyPicks(t *testing.T) {
	all := nodes{ints("k", 200)}
	from := "x"
	for i := range 400 {
		to := fmt.Sprint("v", i)
		all = append(all, op("TopK", from+" k", to+" "+to+"i"))
		from = to
	}
	f := readModel(t, modelOf(13, 0, []int64{300}, nil, all...))
	if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), "nodes of the graph") {
		t.Errorf("%v", f.NoModel)
	}
}

// TestWholeInput checks models with a first axis of fixed size. If a node computes along
// this axis, the whole input is one sample. Otherwise the axis is the batch.
func TestWholeInput(t *testing.T) {
	for _, c := range []struct {
		batch int64
		shape []int64
		nodes nodes
		want  []int
		y     []float64
	}{
		{3, nil, nodes{op("ReduceSum", "x", "y")}, []int{3}, []float64{3}},
		{2, []int64{3}, nodes{op("Transpose", "x", "y")}, []int{2, 3}, []float64{0, 3, 1, 4, 2, 5}},
		{2, []int64{3}, nodes{op("ReduceMax", "x", "y", list64("axes", 1))}, []int{3}, []float64{2}},
		{3, nil, nodes{op("MatMul", "x w", "y")}, []int{3}, []float64{-1}},
	} {
		m := modelOf(11, c.batch, c.shape, map[string][]float32{"w": {1, 1, -1}}, c.nodes...)
		f := readModel(t, m)
		if f.NoModel != nil {
			t.Errorf("%v: %v", c.nodes, f.NoModel)
		} else if got := f.Model.Input().Shape; !slices.Equal(got, c.want) {
			t.Errorf("%v: a sample is %v, want %v", c.nodes, got, c.want)
		} else if got := evalCounting(t, m); !slices.Equal(got, c.y) {
			t.Errorf("%v: %v, want %v", c.nodes, got, c.y)
		}
	}
	f := readModel(t, modelOf(11, 0, []int64{3}, nil, op("Transpose", "x", "y")))
	if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), "moves the batch axis") {
		t.Errorf("of an open batch: %v", f.NoModel)
	}
}

// TestAnyOrder: nodes may be in any order, and an output may be a constant.
func TestAnyOrder(t *testing.T) {
	m := modelOf(13, 0, []int64{2}, map[string][]float32{"k": {3, 4}}, op("Neg", "b", "y"), op("Abs", "a", "b"),
		op("Neg", "x", "a"))
	m.Graph.Output = []*onnxpb.ValueInfoProto{{Name: "y"}, {Name: "k"}}
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	x := tensor.Of([]float32{1, 2, 3, 4}, 2, 2)
	got, err := eval(f.Model, x)
	if err != nil || !slices.Equal(got[0].F64(), []float64{-1, -2, -3, -4}) ||
		!slices.Equal(got[1].F64(), []float64{3, 4, 3, 4}) {
		t.Errorf("%v, %v", got, err)
	}
}
