package onnx

import (
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

var (
	none     = math.NaN()
	infinite = math.Inf(1)
)

func castType(d onnxpb.TensorProto_DataType) *onnxpb.AttributeProto { return intAttr("to", int(d)) }

// TestElements checks operators on single elements, and reductions, against the values of
// the standard, as NumPy and PyTorch compute them.
func TestElements(t *testing.T) {
	float, truth := castType(onnxpb.TensorProto_FLOAT), castType(onnxpb.TensorProto_BOOL)
	x := []float64{-2.5, -1, 0, 1, 2.5, none}
	for _, c := range []struct {
		name  string
		nodes []*onnxpb.NodeProto
		want  []float64
	}{
		{"greater", []*onnxpb.NodeProto{op("Greater", "x k", "b"), op("Cast", "b", "y", float)},
			[]float64{0, 0, 0, 0, 1, 0}},
		{"less or equal, exchanged",
			[]*onnxpb.NodeProto{op("LessOrEqual", "k x", "b"), op("Cast", "b", "y", float)},
			[]float64{0, 0, 0, 1, 1, 0}},
		{"equal", []*onnxpb.NodeProto{op("Equal", "x x", "b"), op("Cast", "b", "y", float)},
			[]float64{1, 1, 1, 1, 1, 0}},
		{"not less", []*onnxpb.NodeProto{op("Less", "x k", "a"), op("Not", "a", "b"), op("Cast", "b", "y", float)},
			[]float64{0, 0, 0, 1, 1, 1}},
		{"and, or, xor", []*onnxpb.NodeProto{op("Less", "x k", "a"), op("GreaterOrEqual", "x m", "b"),
			op("And", "a b", "c"), op("IsNaN", "x", "n"), op("Or", "c n", "d"), op("Xor", "d a", "e"),
			op("Cast", "e", "y", float)}, []float64{1, 0, 0, 0, 0, 1}},
		{"truth of numbers", []*onnxpb.NodeProto{op("Cast", "x", "b", truth), op("Cast", "b", "y", float)},
			[]float64{1, 1, 0, 1, 1, 1}},
		{"where of values", []*onnxpb.NodeProto{op("Greater", "x k", "b"), op("Neg", "x", "n"),
			op("Where", "b x n", "y")}, []float64{2.5, 1, 0, -1, 2.5, none}},
		{"where of constants", []*onnxpb.NodeProto{op("Less", "x k", "b"), op("Where", "b k m", "y")},
			[]float64{1, 1, 1, -1, -1, -1}},
		{"where not a number", []*onnxpb.NodeProto{op("IsNaN", "x", "b"), op("Where", "b k x", "y")},
			[]float64{-2.5, -1, 0, 1, 2.5, 1}},
		{"infinite", []*onnxpb.NodeProto{op("Div", "x zero", "q"), op("IsInf", "q", "b"),
			op("Cast", "b", "y", float)},
			[]float64{1, 1, 0, 1, 1, 0}},
		{"infinite below", []*onnxpb.NodeProto{op("Div", "x zero", "q"),
			op("IsInf", "q", "b", intAttr("detect_positive", 0)), op("Cast", "b", "y", float)},
			[]float64{1, 1, 0, 0, 0, 0}},
		{"sign", []*onnxpb.NodeProto{op("Sign", "x", "y")}, []float64{-1, -1, 0, 1, 1, none}},
		{"floor", []*onnxpb.NodeProto{op("Floor", "x", "y")}, []float64{-3, -1, 0, 1, 2, none}},
		{"ceil", []*onnxpb.NodeProto{op("Ceil", "x", "y")}, []float64{-2, -1, 0, 1, 3, none}},
		{"round", []*onnxpb.NodeProto{op("Round", "x", "y")}, []float64{-2, -1, 0, 1, 2, none}},
		{"max of one number", []*onnxpb.NodeProto{op("Max", "x k", "y")}, []float64{1, 1, 1, 1, 2.5, none}},
		{"min of a value", []*onnxpb.NodeProto{op("Neg", "x", "n"), op("Min", "n x m", "y")},
			[]float64{-2.5, -1, -1, -1, -2.5, none}},
		{"clip below alone", []*onnxpb.NodeProto{op("Div", "x zero", "q"), op("Clip", "q k", "y")},
			[]float64{1, 1, none, infinite, infinite, none}},
		{"clip above alone", []*onnxpb.NodeProto{op("Div", "x zero", "q"), op("Min", "q k", "y")},
			[]float64{-infinite, -infinite, none, 1, 1, none}},
		{"square", []*onnxpb.NodeProto{op("Pow", "x two", "y")}, []float64{6.25, 1, 0, 1, 6.25, none}},
		{"to the power of 5", []*onnxpb.NodeProto{op("Pow", "x five", "y")},
			[]float64{-97.65625, -1, 0, 1, 97.65625, none}},
		{"power of a value", []*onnxpb.NodeProto{op("Pow", "two x", "y")},
			[]float64{0.1767766952966369, 0.5, 1, 2, 5.656854249492381, none}},
		{"a power of a negative base", []*onnxpb.NodeProto{op("Pow", "x half", "y")},
			[]float64{none, none, 0, 1, 3.952847075210474, none}},
		{"zero to the power of zero", []*onnxpb.NodeProto{op("Pow", "x zero", "y")}, []float64{1, 1, 1, 1, 1, 1}},
	} {
		constants := map[string][]float32{"k": {1}, "m": {-1}, "zero": {0}, "two": {2}, "five": {5}, "half": {1.5}}
		elements(t, c.name, modelOf(13, 0, []int64{6}, constants, c.nodes...), x, c.want)
	}
}

// TestReductions reduces over axes after the batch, with NaN and infinities, and over empty
// axes.
func TestReductions(t *testing.T) {
	x := []float64{1, -2, 3, 4, 0.5, -1}
	for _, c := range []struct {
		op   string
		axes []int64
		want []float64
	}{
		{"ReduceMax", []int64{1}, []float64{4, 0.5, 3}}, {"ReduceMax", []int64{-1}, []float64{3, 4}},
		{"ReduceMin", []int64{1, 2}, []float64{-2}}, {"ReduceProd", []int64{2}, []float64{-6, -2}},
		{"ReduceMean", []int64{2}, []float64{2. / 3, 3.5 / 3}}, {"ReduceL1", []int64{1}, []float64{5, 2.5, 4}},
		{"ReduceL2", []int64{1}, []float64{math.Sqrt(17), math.Sqrt(4.25), math.Sqrt(10)}},
		{"ReduceSumSquare", []int64{2}, []float64{14, 17.25}},
		{"ReduceLogSumExp", []int64{1}, []float64{4.048587351573742, 0.578889734292548, 3.0181499279178094}},
	} {
		n := op(c.op, "x", "y", list64("axes", c.axes...), intAttr("keepdims", 0))
		elements(t, c.op, modelOf(11, 0, []int64{2, 3}, nil, n), x, c.want)
	}
	for _, op := range []string{"ReduceMax", "ReduceMin", "ReduceProd"} {
		n := ofX(op, settings{list64("axes", 1), intAttr("keepdims", 0)})
		elements(t, op+" of no number", modelOf(11, 0, []int64{3}, nil, n), []float64{1, none, 3}, []float64{none})
	}
	// These cases compute log(sum(exp)) of values that are infinite, or overflow.
	for _, c := range [][3]float64{{-infinite, -infinite, -infinite}, {infinite, 1, infinite},
		{1000, 1000, 1000 + math.Ln2}, {none, 1, none}} {
		n := ofX("ReduceLogSumExp", settings{list64("axes", 1), intAttr("keepdims", 0)})
		elements(t, "ReduceLogSumExp", modelOf(11, 0, []int64{2}, nil, n), c[:2], c[2:])
	}
}

// elements compares the results of a model for one sample.
func elements(t *testing.T, name string, m *onnxpb.ModelProto, x, want []float64) {
	t.Helper()
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Errorf("%s: %v", name, f.NoModel)
		return
	}
	same := func(a, b float64) bool { return a == b || a != a && b != b || math.Abs(a-b) <= 1e-6*math.Abs(b) }
	in := append([]int{1}, f.Model.Input().Shape...)
	for _, m := range []*models.Model{f.Model, back(t, f.Model).Model} { // also written and read again
		got, err := eval(m, tensor.Of(x, in...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.EqualFunc(got[0].F64(), want, same) {
			t.Errorf("%s: got %v, want %v", name, got[0].F64(), want)
		}
	}
}
