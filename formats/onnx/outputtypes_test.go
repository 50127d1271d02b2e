package onnx

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestOutputTypes: outputs of integers and truth values have the types and names of the file. NumPy
// computed the numbers for x = 0 1 2 ..., and for -x.
func TestOutputTypes(t *testing.T) {
	of := func(name string, d onnxpb.TensorProto_DataType, dims ...int64) *onnxpb.ValueInfoProto {
		shape := &onnxpb.TensorShapeProto{}
		for _, n := range dims {
			shape.Dim = append(shape.Dim, &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(n)})
		}
		return &onnxpb.ValueInfoProto{Name: name, Type: &onnxpb.TypeProto{
			TensorType: &onnxpb.TypeProto_Tensor{ElemType: int32(d), Shape: shape}}}
	}
	axis := func(n int) *onnxpb.AttributeProto { return intAttr("axis", n) }
	gone := intAttr("keepdims", 0)
	for _, c := range []struct {
		name    string
		shape   []int64
		nodes   nodes
		outputs []*onnxpb.ValueInfoProto
		want    string
	}{
		{"top 2", []int64{4}, nodes{ints("k", 2), op("TopK", "x k", "v i")},
			[]*onnxpb.ValueInfoProto{of("i", onnxpb.TensorProto_INT64, 0, 2), of("v", onnxpb.TensorProto_FLOAT, 0, 2)},
			"i i64[1,2] [3 2], v f32[1,2] [3 2]"},
		{"a class", []int64{3}, nodes{op("Neg", "x", "n"), op("ArgMax", "n", "y", axis(1), gone)},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0)},
			"y i64[1] [0], scores f32[1,3] [-0 -1 -2]"},
		{"a class, cast", []int64{3}, nodes{op("ArgMax", "x", "a", axis(1)),
			op("Cast", "a", "y", intAttr("to", 6))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT32, 0, 1)},
			"y i32[1,1] [2], scores f32[1,3] [0 1 2]"},
		{"the scores first", []int64{3}, nodes{op("Neg", "x", "n"), op("ArgMax", "n", "y", axis(1), gone)},
			[]*onnxpb.ValueInfoProto{of("n", onnxpb.TensorProto_FLOAT, 0, 3), of("y", onnxpb.TensorProto_INT64, 0)},
			"n f32[1,3] [-0 -1 -2], y i64[1] [0]"},
		{"a class in front of others", []int64{3}, nodes{op("Neg", "x", "n"), op("ArgMax", "n", "y", axis(1), gone),
			op("Abs", "n", "z"), op("ArgMax", "z", "u", axis(1))}, []*onnxpb.ValueInfoProto{
			of("u", onnxpb.TensorProto_INT64, 0, 1), of("y", onnxpb.TensorProto_INT64, 0),
			of("z", onnxpb.TensorProto_FLOAT, 0, 3)},
			"u i64[1,1] [2], y i64[1] [0], z f32[1,3] [0 1 2], scores f32[1,3] [-0 -1 -2]"},
		{"classes of pixels", []int64{2, 1, 2}, nodes{op("Mul", "x turn", "n"),
			op("ArgMax", "n", "y", axis(1), gone)},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 1, 2)},
			"y i64[1,1,2] [1 0], scores f32[1,2,1,2] [0 1 2 -3]"},
		{"an axis of one element", []int64{1, 2}, nodes{op("ArgMax", "x", "y", axis(1))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 1, 2)}, "y i64[1,1,2] [0 0]"},
		{"truth", []int64{3}, nodes{op("Greater", "x one", "y")},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_BOOL, 0, 3)}, "y bool[1,3] [0 0 1]"},
		{"truth that is moved", []int64{2, 2}, nodes{op("Greater", "x one", "b"), op("Transpose", "b", "y",
			list64("perm", 0, 2, 1))}, []*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_BOOL, 0, 2, 2)},
			"y bool[1,2,2] [0 1 0 1]"},
		{"classes, moved", []int64{2, 1, 2}, nodes{op("ArgMax", "x", "a", axis(1), gone),
			ints("two", 0, 2), op("Reshape", "a two", "y")},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 2)},
			"y i64[1,2] [1 1], scores f32[1,2,1,2] [0 1 2 3]"},
		{"bytes", []int64{3}, nodes{wholes("byte", onnxpb.TensorProto_UINT8, nil, 0), op("QuantizeLinear", "x one byte", "y")},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_UINT8, 0, 3)}, "y u8[1,3] [0 1 2]"},
		{"u16", []int64{3}, nodes{wholes("zero", onnxpb.TensorProto_UINT16, nil, 7), op("QuantizeLinear", "x one zero", "y")},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_UINT16, 0, 3)}, "y u16[1,3] [7 8 9]"},
		{"i16", []int64{3}, nodes{wholes("zero", onnxpb.TensorProto_INT16, nil, -9), op("QuantizeLinear", "x one zero", "y")},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT16, 0, 3)}, "y i16[1,3] [-9 -8 -7]"},
		{"i16 of places", []int64{4}, nodes{ints("k", 2), op("TopK", "x k", "v i"), op("Cast", "i", "y", intAttr("to", 5))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT16, 0, 2)}, "y i16[1,2] [3 2]"},
		{"u16 of a class", []int64{3}, nodes{op("ArgMax", "x", "a", axis(1)), op("Cast", "a", "y", intAttr("to", 4))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_UINT16, 0, 1)},
			"y u16[1,1] [2], scores f32[1,3] [0 1 2]"},
		{"u32 of truth", []int64{3}, nodes{op("Greater", "x one", "b"), op("Cast", "b", "y", intAttr("to", 12))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_UINT32, 0, 3)}, "y u32[1,3] [0 0 1]"},
		{"u64 of cut numbers", []int64{3}, nodes{op("Mul", "x large", "n"), floats("bottom", nil, -0.5), floats("top", nil, 9.75),
			op("Clip", "n bottom top", "c"), op("Cast", "c", "i", intAttr("to", 7)), op("Cast", "i", "y", intAttr("to", 13))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_UINT64, 0, 3)}, "y u64[1,3] [0 9 9]"},
		{"a byte, wider", []int64{3}, nodes{wholes("byte", onnxpb.TensorProto_INT8, nil, -3), op("QuantizeLinear", "x one byte", "q"),
			op("Cast", "q", "y", intAttr("to", 5))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT16, 0, 3)}, "y i16[1,3] [-3 -2 -1]"},
		{"truth that is cropped", []int64{3}, nodes{op("Greater", "x one", "b"), ints("two", 2),
			op("CenterCropPad", "b two", "y", list64("axes", 1))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_BOOL, 0, 2)}, "y bool[1,2] [0 0]"},
		{"truth that is chosen", []int64{3}, nodes{op("Greater", "x one", "b"), op("Not", "b", "n"),
			op("Where", "b n b", "y")}, []*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_BOOL, 0, 3)},
			"y bool[1,3] [0 0 0]"},
		{"integers that are chosen", []int64{3}, nodes{op("Greater", "x one", "b"), ints("k", 7), ints("l", -2),
			op("Where", "b k l", "y")}, []*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 3)},
			"y i64[1,3] [-2 -2 7]"},
		{"places that are chosen", []int64{3}, nodes{ints("three", 3), op("TopK", "x three", "v i"), op("Greater", "x one", "b"),
			ints("l", -1), op("Where", "b i l", "y")}, []*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 3)},
			"y i64[1,3] [-1 -1 0]"},
		{"the largest place", []int64{3}, nodes{ints("two", 2), op("TopK", "x two", "v i"),
			op("ReduceMax", "i", "y", list64("axes", 1))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 1)}, "y i64[1,1] [2]"},
		{"bytes like floats", []int64{3}, nodes{wholes("byte", onnxpb.TensorProto_UINT8, nil, 7),
			op("QuantizeLinear", "x one byte", "q"), op("CastLike", "q one", "y")},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_FLOAT, 0, 3)}, "y f32[1,3] [7 8 9]"},
		{"a class as truth", []int64{3}, nodes{op("ArgMax", "x", "a", axis(1)), op("Cast", "a", "b", intAttr("to", 9)),
			op("Cast", "b", "y", intAttr("to", 7))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 1)}, "y i64[1,1] [1]"},
		{"is any true", []int64{3}, nodes{op("Greater", "x one", "b"), op("ReduceMax", "b", "y", list64("axes", 1), gone)},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_BOOL, 0)}, "y bool[1] [1]"},
		{"are all true", []int64{3}, nodes{op("Greater", "x one", "b"), op("ReduceMin", "b", "y", list64("axes", 1))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_BOOL, 0, 1)}, "y bool[1,1] [0]"},
		{"truth, some of it", []int64{3}, nodes{op("Greater", "x one", "b"),
			wholes("mark", onnxpb.TensorProto_BOOL, []int64{3}, 1, 0, 1), op("Compress", "b mark", "y", axis(1))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_BOOL, 0, 2)}, "y bool[1,2] [0 1]"},
		{"the least place", []int64{4}, nodes{ints("k", 2), op("TopK", "x k", "v i"),
			op("ReduceMin", "i", "y", list64("axes", 1))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 1)}, "y i64[1,1] [2]"},
		{"bytes of a clip", []int64{4}, nodes{op("Mul", "x large", "n"), op("Clip", "n low high", "c"),
			op("Unsqueeze", "c first", "u"), op("Cast", "u", "y", intAttr("to", 2))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_UINT8, 0, 1, 4)}, "y u8[1,1,4] [0 254 254 254]"},
		{"i8 of a clip that is rounded", []int64{2}, nodes{op("Mul", "x large", "n"), op("Clip", "n low high", "c"),
			op("Floor", "c", "f"), op("Cast", "f", "i", intAttr("to", 6)), op("Cast", "i", "y", intAttr("to", 7))},
			[]*onnxpb.ValueInfoProto{of("y", onnxpb.TensorProto_INT64, 0, 2)}, "y i64[1,2] [0 254]"},
		{"whole numbers, of no type", []int64{3}, nodes{op("Mul", "x large", "n"),
			op("Cast", "n", "y", intAttr("to", 7))},
			[]*onnxpb.ValueInfoProto{{Name: "y"}}, fmt.Sprintf("y i64[1,3] [0 %d %d]", int64(-1)<<63, int64(-1)<<63)},
	} {
		m := modelOf(17, 0, c.shape, map[string][]float32{"one": {1}, "turn": {1, 1, 1, -1},
			"large": {1e30}, "low": {-0.9}, "high": {254.9}}, append(nodes{ints("first", 1)}, c.nodes...)...)
		for _, p := range m.Graph.Initializer {
			if p.Name == "turn" {
				p.Dims = []int64{2, 1, 2}
			}
		}
		m.Graph.Output = c.outputs
		f := readModel(t, m)
		if f.NoModel != nil {
			t.Errorf("%s: %v", c.name, f.NoModel)
			continue
		}
		x := tensor.New(tensor.F32, append([]int{1}, f.Model.Input().Shape...)...)
		for i := range x.F32() {
			x.F32()[i] = float32(i)
		}
		for what, m := range map[string]*models.Model{"read": f.Model, "written": back(t, f.Model).Model} {
			if got := typedOutputs(t, m, x); got != c.want {
				t.Errorf("%s, %s: %s, want %s", c.name, what, got, c.want)
			}
		}
	}
}

// typedOutputs formats the outputs of m for x with their names and types.
func typedOutputs(t *testing.T, m *models.Model, x tensor.Tensor) (all string) {
	t.Helper()
	outs, err := eval(m, x)
	if err != nil {
		t.Fatal(err)
	}
	for k := range outs {
		outs[k] = narrow(outs[k])
	}
	infos := m.Outputs()
	if outs, err = m.FileOutputs(outs); err != nil {
		t.Fatal(err)
	}
	for k, o := range outs {
		if k > 0 {
			all += ", "
		}
		all += infos[k].Name + " " + tensor.Describe(o.DType, o.Shape) + " "
		switch o.DType {
		case tensor.I64:
			all += fmt.Sprint(o.I64())
		case tensor.I32:
			all += fmt.Sprint(o.I32())
		case tensor.Bool, tensor.U8:
			all += fmt.Sprint(o.Bytes)
		case tensor.I16:
			all += fmt.Sprint(tensor.View[int16](o))
		case tensor.U16:
			all += fmt.Sprint(tensor.View[uint16](o))
		case tensor.U32:
			all += fmt.Sprint(tensor.View[uint32](o))
		case tensor.U64:
			all += fmt.Sprint(tensor.View[uint64](o))
		default:
			all += fmt.Sprint(o.F32())
		}
	}
	return all
}

// TestSameOfShortKernel: for a transposed convolution of one element with a kernel of 2 and
// a stride of 3, ONNX Runtime 1.21 and 1.30 return a length of 2; the standard defines 3.
func TestSameOfShortKernel(t *testing.T) {
	m := modelOf(20, 0, []int64{1, 1}, map[string][]float32{"w": {1, 2}}, op("ConvTranspose", "x w", "y",
		list64("strides", 3), textAttr("auto_pad", "SAME_UPPER")))
	m.Graph.Initializer[0].Dims = []int64{1, 1, 2}
	const want = "a length of 3, ONNX Runtime of 2"
	if f := readModel(t, m); f.NoModel == nil || !strings.Contains(f.NoModel.Error(), want) {
		t.Errorf("%v, want %q", f.NoModel, want)
	}
}

// TestTypesThatEndBefore: a cast to an integer type that does not represent all possible
// values is refused, because values would wrap around.
func TestTypesThatEndBefore(t *testing.T) {
	for _, c := range []struct {
		shape []int64
		nodes nodes
		want  string
	}{
		{[]int64{300}, nodes{op("ArgMax", "x", "a", intAttr("axis", 1)), op("Cast", "a", "y", intAttr("to", 2))},
			"of places up to 299 to u8"},
		{[]int64{300}, nodes{ints("k", 2), op("TopK", "x k", "v i"), op("Cast", "i", "y", intAttr("to", 3))},
			"of values to i8 is not supported"},
		{[]int64{3}, nodes{op("Greater", "x one", "b"), ints("k", 1<<24), ints("l", 0), op("Where", "b k l", "y")},
			"of integers of 2^24 and more is not supported"},
		{[]int64{3}, nodes{op("Cast", "x", "y", intAttr("to", 4))}, "of values to u16 is not supported, unless a Clip before"},
		{[]int64{3}, nodes{op("Cast", "x", "i", intAttr("to", 7)), op("Cast", "i", "y", intAttr("to", 6))},
			"of values to i32 is not supported"},
		{[]int64{3}, nodes{op("Cast", "x", "i", intAttr("to", 7)), op("Cast", "i", "y", intAttr("to", 4))},
			"of values to u16 is not supported"},
		{[]int64{3}, nodes{wholes("byte", onnxpb.TensorProto_INT8, nil, 0), op("QuantizeLinear", "x one byte", "q"),
			op("Cast", "q", "y", intAttr("to", 2))}, "of values to u8 is not supported"},
	} {
		f := readModel(t, modelOf(17, 0, c.shape, map[string][]float32{"one": {1}}, c.nodes...))
		if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.want) {
			t.Errorf("%v, want %q", f.NoModel, c.want)
		}
	}
}
