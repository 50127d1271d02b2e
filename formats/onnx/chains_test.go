package onnx

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// op returns a node: an operator with the names of its operands and results.
func op(kind, inputs, output string, with ...*onnxpb.AttributeProto) *onnxpb.NodeProto {
	return &onnxpb.NodeProto{OpType: kind, Name: output, Input: strings.Split(inputs, " "),
		Output: strings.Fields(output), Attribute: with}
}

func list64(name string, v ...int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_INTS, Ints: v}
}

// ints returns a Constant of integers.
func ints(name string, v ...int64) *onnxpb.NodeProto {
	return whole64(name, []int64{int64(len(v))}, v...)
}

// whole64 returns a Constant of integers of a shape.
func whole64(name string, dims []int64, v ...int64) *onnxpb.NodeProto {
	t := &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_INT64), Dims: dims, Int64Data: v}
	return &onnxpb.NodeProto{OpType: "Constant", Output: []string{name},
		Attribute: settings{{Name: "value", Type: onnxpb.AttributeProto_TENSOR, T: t}}}
}

// TestWithoutItsBatch: in a file with a batch of 1, a value without the batch axis may be
// reshaped to any shape, and may get the axis back. Operators combine it only with values
// that lack the axis, too.
func TestWithoutItsBatch(t *testing.T) {
	lose := op("Squeeze", "x", "y", list64("axes", 0)) // (1,5,4) becomes (5,4)
	for _, c := range []struct {
		name  string
		shape []int64
		nodes []*onnxpb.NodeProto
		want  string
	}{
		{"a length is copied", []int64{5, 4},
			[]*onnxpb.NodeProto{lose, ints("s", 0, 2, -1), op("Reshape", "y s", "z")}, "shape=[5,2,2]"},
		{"a length of 0", []int64{5, 4},
			[]*onnxpb.NodeProto{lose, ints("s", 0, 2, 2), op("Reshape", "y s", "z", intAttr("allowzero", 1))},
			"to [0,2,2]"},
		{"too few", []int64{5, 4},
			[]*onnxpb.NodeProto{lose, ints("s", 3), op("Reshape", "y s", "z")}, "to [3]: the shape"},
		{"the batch again", []int64{5, 4}, []*onnxpb.NodeProto{lose, op("Shape", "x", "s"),
			op("Reshape", "y s", "z"), op("Transpose", "z", "w", list64("perm", 0, 2, 1))}, "transpose("},
		{"beside one with its batch", []int64{5, 4},
			[]*onnxpb.NodeProto{lose, op("Concat", "y x", "z", intAttr("axis", 0))},
			"operand 1 is rows f32[1,5,4], operand 0 rows f32[5,4]"},
		{"another axis is lost", []int64{5, 1, 4}, []*onnxpb.NodeProto{op("Squeeze", "x", "y", list64("axes", 2)),
			op("Transpose", "y", "z", list64("perm", 0, 2, 1))}, "transpose("},
		{"no axis is left", []int64{1}, []*onnxpb.NodeProto{op("Squeeze", "x", "y"), op("Squeeze", "y", "z")},
			"shape=[]"},
	} {
		got := became(readModel(t, modelOf(11, 1, c.shape, nil, c.nodes...)))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestParts checks that a Split cuts an axis into parts that fill it, one for each result.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name, input string
		opset       int64
		node        *onnxpb.NodeProto
		want        string
	}{
		{"two", "6", 11, op("Split", "x", "a b", intAttr("axis", 1)), "begin=[3]"},
		{"given", "6", 11, op("Split", "x", "a b", intAttr("axis", 1), list64("split", 2, 4)), "begin=[2]"},
		{"too many", "6", 18, op("Split", "x", "a b", intAttr("axis", 1), intAttr("num_outputs", 3)),
			"has 2 results, and num_outputs 3"},
		{"three for two", "6", 11, op("Split", "x", "a b", intAttr("axis", 1), list64("split", 1, 2, 3)),
			"has 2 results"},
		{"none", "6", 11, op("Split", "x", "a b", intAttr("axis", 1), list64("split", 0, 6)),
			"into parts of [0 6] of an axis of 6"},
		{"beyond", "6", 11, op("Split", "x", "a b", intAttr("axis", 1), list64("split", 4, 4)),
			"into parts of [4 4] of an axis of 6"},
		{"of nothing", "", 11, op("Split", "x", "a b", intAttr("axis", 1)), "axis 1 of a tensor of rank 1"},
	} {
		var shape []int64
		for range c.input {
			shape = append(shape, 6)
		}
		m := modelOf(c.opset, 0, shape, nil, c.node)
		m.Graph.Output = append(m.Graph.Output, &onnxpb.ValueInfoProto{Name: "b"})
		m.Graph.Output[0].Name = "a"
		if got := became(readModel(t, m)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	every := op("Slice", "x", "y", list64("axes", 1), list64("starts", 1), list64("ends", 3))
	got := became(readModel(t, modelOf(9, 0, []int64{6}, nil, every)))
	if !strings.Contains(got, "slice(") || strings.Contains(got, "step=") {
		t.Errorf("a step of one is written: %s", got)
	}
	still := op("Transpose", "x", "y")
	got = became(readModel(t, modelOf(9, 0, []int64{6}, nil, still)))
	if !strings.Contains(got, "moves the batch axis to axis 1") {
		t.Errorf("a transpose of all axes: %s", got)
	}
}
