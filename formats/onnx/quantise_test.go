package onnx

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

const (
	u8, i8   = onnxpb.TensorProto_UINT8, onnxpb.TensorProto_INT8
	u16, i32 = onnxpb.TensorProto_UINT16, onnxpb.TensorProto_INT32
)

// wholes returns a Constant of integers of a type. Without dims it has one number.
func wholes(name string, kind onnxpb.TensorProto_DataType, dims []int64, v ...int32) *onnxpb.NodeProto {
	t := &onnxpb.TensorProto{DataType: int32(kind), Dims: dims, Int32Data: v}
	return &onnxpb.NodeProto{OpType: "Constant", Output: []string{name},
		Attribute: settings{{Name: "value", Type: onnxpb.AttributeProto_TENSOR, T: t}}}
}

// between returns nodes that quantise x to q, with the given type, scale and zero point,
// then the nodes in more, which compute r from q, and a node that dequantises r.
func between(kind onnxpb.TensorProto_DataType, scale float32, zero int32, more ...*onnxpb.NodeProto) nodes {
	list := nodes{floats("s", nil, scale), wholes("z", kind, nil, zero), op("QuantizeLinear", "x s z", "q")}
	if len(more) == 0 {
		return append(list, op("DequantizeLinear", "q s z", "y"))
	}
	return append(append(list, more...), op("DequantizeLinear", "r s z", "y"))
}

// TestQuantisedValues: x/scale is rounded in f32, halves to even, the zero point is added,
// and the sum is clipped. The dequantised value is scale*(q - zero). The expected numbers
// were computed by hand.
func TestQuantisedValues(t *testing.T) {
	x := []float64{0.25, 0.75, 1.25, -0.25, -1000, 1000}
	for _, c := range []struct {
		name  string
		nodes nodes
		want  []float64
	}{
		{"u8", between(u8, 0.5, 3), []float64{0, 1, 1, 0, -1.5, 126}},
		{"i8", between(i8, 0.5, -3), []float64{0, 1, 1, 0, -62.5, 65}},
		{"i8, a zero point of 127", between(i8, 0.5, 127), []float64{0, 0, 0, 0, -127.5, 0}},
		{"u16", between(u16, 0.5, 3), []float64{0, 1, 1, 0, -1.5, 1000}},
		{"integers are the output", between(i8, 0.5, -3)[:3], []float64{-3, -1, -1, -3, -128, 127}},
		{"without a zero point", nodes{floats("s", nil, 0.5), op("QuantizeLinear", "x s", "q"),
			op("DequantizeLinear", "q s", "y")}, []float64{0, 1, 1, 0, 0, 127.5}},
		{"output_dtype", nodes{floats("s", nil, 0.5), op("QuantizeLinear", "x s", "q", intAttr("output_dtype",
			int(i8))), op("DequantizeLinear", "q s", "y")}, []float64{0, 1, 1, 0, -64, 63.5}},
		{"cast", between(u8, 0.5, 3, op("Cast", "q", "y", intAttr("to", int(onnxpb.TensorProto_FLOAT))))[:4],
			[]float64{3, 5, 5, 3, 0, 255}},
		{"bytes are moved", between(i8, 0.5, -3, ints("i", 5, 4, 3, 2, 1, 0), op("Gather", "q i", "r",
			intAttr("axis", 1))), []float64{65, -62.5, 0, 1, 1, 0}},
		{"for each index", nodes{floats("s", []int64{6}, 0.5, 0.25, 1, 1, 1, 10),
			wholes("z", i8, []int64{6}, 0, 1, 2, 3, 4, 5), op("QuantizeLinear", "x s z", "q"),
			op("DequantizeLinear", "q s z", "y")}, []float64{0, 0.75, 1, 0, -132, 1000}},
	} {
		elements(t, c.name, modelOf(21, 0, []int64{6}, nil, c.nodes...), x, c.want)
	}
	// 0.35/0.1 is 3.4999999 in float64, and 3.5 in float32.
	elements(t, "rounded twice", modelOf(13, 0, []int64{2}, nil, between(u8, 0.1, 0)...), []float64{0.35, 0.25},
		[]float64{0.4, 0.2})
	pooled := between(i8, 1, 0, op("MaxPool", "q", "r", list64("kernel_shape", 2, 2), list64("pads", 0, 0, 1, 1)))
	elements(t, "the largest byte", modelOf(13, 0, []int64{1, 2, 2}, nil, pooled...), []float64{-5, -7, -6, -8},
		[]float64{-5, -7, -6, -8})
}

// TestQuantisedGraph: quantisation with one scale becomes the graph's operations quantize
// and dequantize, on bytes.
func TestQuantisedGraph(t *testing.T) {
	f := readModel(t, modelOf(13, 0, []int64{6}, nil, between(i8, 0.5, -3)...))
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	if got := fmt.Sprint(f.Counters); !strings.Contains(got, "QDQ: 1 QuantizeLinear, 1 DequantizeLinear") {
		t.Errorf("the file counts %s", got)
	}
	var ops []string
	for _, n := range f.Model.Graph.Main.Nodes {
		ops = append(ops, n.Op.String())
		if n.Op == graph.Quantize && n.Int("zero") != 125 {
			t.Errorf("the zero point is %d, want -3+128", n.Int("zero"))
		}
	}
	if got := strings.Join(ops, " "); got != "quantize dequantize" {
		t.Errorf("operations are %s", got)
	}
}

// TestQuantisedInput: an input of integers is dequantised in the same way.
func TestQuantisedInput(t *testing.T) {
	m := modelOf(13, 0, []int64{2, 3}, nil, floats("s", []int64{2}, 0.5, 4), wholes("z", i8, []int64{2}, 1, -2),
		op("DequantizeLinear", "x s z", "y", intAttr("axis", 1)))
	m.Graph.Input[0].Type.TensorType.ElemType = int32(i8)
	elements(t, "a scale for each channel", m, []float64{1, 2, -128, 127, 0, -2}, []float64{0, 0.5, -64.5, 516, 8, 0})
}

// TestQuantisedRefusals: nodes that cannot be run are named.
func TestQuantisedRefusals(t *testing.T) {
	scaled := func(s float32) nodes { return between(u8, s, 0) }
	for _, c := range []struct {
		want  string
		nodes nodes
	}{
		{"with a scale of 0;", scaled(0)}, {"with a scale of -1;", scaled(-1)}, {"with a scale of 1e-40;", scaled(1e-40)},
		{"of f32 is not supported, only of integers", nodes{floats("s", nil, 1), op("DequantizeLinear", "x s", "y")}},
		{"of u8 with a zero point of i8", nodes{floats("s", nil, 1), wholes("z", i8, nil, 0),
			op("QuantizeLinear", "x s", "q"), op("DequantizeLinear", "q s z", "y")}},
		{"to i32 is not supported", between(i32, 1, 0)},
		{"of integers that come from the input", between(u8, 1, 0, op("Add", "q q", "r"))},
		{"3 scales for an axis of 6", nodes{floats("s", []int64{3}, 1, 1, 1), op("QuantizeLinear", "x s", "y")}},
	} {
		f := readModel(t, modelOf(13, 0, []int64{6}, nil, c.nodes...))
		if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.want) {
			t.Errorf("%v, want %s", f.NoModel, c.want)
		}
	}
}

// quantisedNetwork returns a network in QDQ form: a convolution with a relu, a residual
// sum, a pool and a dense layer. Maps have the given type, weights are i8 with a scale for
// each channel, and biases are i32.
func quantisedNetwork(kind onnxpb.TensorProto_DataType, zero int32) *onnxpb.ModelProto {
	var list nodes
	steps := func(n int) (v []int32) {
		for i := range n {
			v = append(v, int32(i*37%255-127))
		}
		return v
	}
	around := func(from, to string, scale float32) {
		list = append(list, floats(to+".s", nil, scale), wholes(to+".z", kind, nil, zero),
			op("QuantizeLinear", from+" "+to+".s "+to+".z", to+".q"),
			op("DequantizeLinear", to+".q "+to+".s "+to+".z", to))
	}
	weight := func(to string, kind onnxpb.TensorProto_DataType, dims []int64, scale ...float32) {
		n := 1
		for _, d := range dims {
			n *= int(d)
		}
		list = append(list, wholes(to+".q", kind, dims, steps(n)...), floats(to+".s", dims[:1], scale...),
			wholes(to+".z", kind, dims[:1], make([]int32, dims[0])...),
			op("DequantizeLinear", to+".q "+to+".s "+to+".z", to, intAttr("axis", 0)))
	}
	weight("w", i8, []int64{3, 3, 3, 3}, 0.01, 0.02, 0.015)
	weight("b", i32, []int64{3}, 0.0002, 0.0004, 0.0003)
	weight("v", i8, []int64{2, 3}, 0.01, 0.02)
	around("x", "a", 0.02)
	list = append(list, op("Conv", "a w b", "c", list64("pads", 1, 1, 1, 1)), op("Relu", "c", "r"))
	around("r", "d", 0.05)
	list = append(list, op("Add", "d a", "e"))
	around("e", "f", 0.05)
	list = append(list, op("GlobalAveragePool", "f", "g"))
	around("g", "h", 0.02)
	list = append(list, op("Flatten", "h", "i"), op("Gemm", "i v", "j", intAttr("transB", 1)))
	around("j", "y", 0.03)
	m := modelOf(13, 0, []int64{3, 6, 6}, nil, list...)
	m.Graph.Output[0].Type = &onnxpb.TypeProto{TensorType: &onnxpb.TypeProto_Tensor{
		ElemType: int32(onnxpb.TensorProto_FLOAT)}}
	return m
}

// TestPeerQuantised: a network in QDQ form has the results of ONNX Runtime, to within one
// step of the output.
func TestPeerQuantised(t *testing.T) {
	needPeers(t)
	for kind, zero := range map[onnxpb.TensorProto_DataType]int32{u8: 100, i8: -28} {
		p := quantisedNetwork(kind, zero)
		b, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "quantised.onnx")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := opened(path)
		if err != nil {
			t.Fatal(err)
		}
		x := ramp(m, 4)
		got, err := eval(m, x)
		if err != nil {
			t.Fatal(err)
		}
		d := worst(got[0], ort(t, path, x)["y"]) / 0.03
		if t.Logf("%v: %g steps", kind, d); !(d <= 1.001) || math.Abs(got[0].F64()[0]) < 0.03 {
			t.Errorf("%v: %v is %g steps from ONNX Runtime's", kind, got[0].F64(), d)
		}
	}
}
