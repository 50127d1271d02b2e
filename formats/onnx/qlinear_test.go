package onnx

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// ms returns a node with one of ONNX Runtime's additional operators, in the domain
// com.microsoft.
func ms(kind, inputs, output string, with ...*onnxpb.AttributeProto) *onnxpb.NodeProto {
	n := op(kind, inputs, output, with...)
	n.Domain = "com.microsoft"
	for i, name := range n.Input {
		n.Input[i] = strings.TrimPrefix(name, "-") // "-" is an absent operand
	}
	return n
}

// ofIntegers returns nodes that quantise x to q, with a scale of 0.5 and the given zero
// point, then the nodes in more, and a node that dequantises their result r with the scale
// ys and the zero point yz.
func ofIntegers(kind onnxpb.TensorProto_DataType, zero int32, ys float32, yz int32,
	more ...*onnxpb.NodeProto) nodes {
	list := nodes{floats("s", nil, 0.5), wholes("z", kind, nil, zero), floats("ys", nil, ys),
		wholes("yz", kind, nil, yz), op("QuantizeLinear", "x s z", "q")}
	return append(append(list, more...), op("DequantizeLinear", "r ys yz", "y"))
}

// operations returns the names of a model's operations.
func operations(t *testing.T, m *onnxpb.ModelProto) (list []string) {
	t.Helper()
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	for _, n := range f.Model.Graph.Main.Nodes {
		list = append(list, n.Op.String())
	}
	return list
}

// TestIntegerOperators: the expected numbers were computed by hand. x is 0, 1, 1, 0, -1.5,
// 126 in steps of 0.5.
func TestIntegerOperators(t *testing.T) {
	x := []float64{0.25, 0.75, 1.25, -0.25, -1000, 1000}
	row, image := []int64{6}, []int64{1, 2, 3}
	weight := func(kind onnxpb.TensorProto_DataType, zero int32, dims []int64, v ...int32) nodes {
		for i := range v {
			v[i] += zero
		}
		return nodes{wholes("w", kind, dims, v...), floats("ws", []int64{2}, 0.5, 0.25),
			wholes("wz", kind, []int64{2}, zero, zero)}
	}
	columns := func(kind onnxpb.TensorProto_DataType, zero int32) nodes {
		return weight(kind, zero, []int64{6, 2}, 1, 2, 1, -1, 1, 0, 1, 0, 1, 1, 1, 0)
	}
	kernels := func(kind onnxpb.TensorProto_DataType, zero int32, second int32) nodes {
		return weight(kind, zero, []int64{2, 1, 1, 2}, 1, 1, second, 0)
	}
	with := func(list nodes, more ...*onnxpb.NodeProto) nodes { return append(slices.Clone(list), more...) }
	convolve := op("QLinearConv", "q s z w ws wz ys yz b", "r", list64("pads", 0, 1, 0, 0))
	bias := wholes("b", i32, []int64{2}, 4, -8)
	cases := []struct {
		name    string
		shape   []int64
		ys      float32
		yz      int32
		nodes   nodes
		want    []float64
		without string // the operation of bytes that the graph lacks; "" if the case is computed in bytes
	}{
		{"QLinearAdd", row, 1, 10, nodes{ms("QLinearAdd", "q s z q s z ys yz", "r")}, []float64{0, 2, 2, 0, -3, 245}, ""},
		{"QLinearAdd of a constant", row, 1, 10, nodes{wholes("k", u8, []int64{6}, 5, 5, 5, 5, 5, 5),
			ms("QLinearAdd", "q s z k s z ys yz", "r")}, []float64{1, 2, 2, 1, 0, 127}, "add_int8"},
		{"QLinearMul", row, 0.5, 0, nodes{ms("QLinearMul", "q s z q s z ys yz", "r")}, []float64{0, 1, 1, 0, 2, 127.5}, ""},
		{"QLinearConcat", row, 0.25, 6, nodes{ms("QLinearConcat", "ys yz q s z q s z", "r", intAttr("axis", 1))},
			[]float64{0, 1, 1, 0, -1.5, 62.25, 0, 1, 1, 0, -1.5, 62.25}, ""},
		{"QLinearLeakyRelu", row, 0.25, 6, nodes{ms("QLinearLeakyRelu", "q s z ys yz", "r", floatAttr("alpha", 0.5))},
			[]float64{0, 1, 1, 0, -0.75, 62.25}, ""},
		{"QLinearSigmoid", row, 1.0 / 256, 0, nodes{ms("QLinearSigmoid", "q s z ys yz", "r")},
			[]float64{0.5, 187.0 / 256, 187.0 / 256, 0.5, 47.0 / 256, 255.0 / 256}, ""},
		{"QLinearSoftmax", row, 1.0 / 256, 0, nodes{ms("QLinearSoftmax", "q s z ys yz", "r", intAttr("axis", 1),
			intAttr("opset", 13))}, []float64{0, 0, 0, 0, 0, 255.0 / 256}, "table_int8"},
		{"QLinearGlobalAveragePool", image, 0.25, 6, nodes{ms("QLinearGlobalAveragePool", "q s z ys yz", "r")},
			[]float64{21}, ""},
		{"QLinearAveragePool", image, 0.25, 6, nodes{ms("QLinearAveragePool", "q s z ys yz", "r",
			list64("kernel_shape", 1, 2))}, []float64{0.5, 1, -0.75, 62.25}, ""},
		{"QLinearAveragePool, padding counts", image, 0.25, 6, nodes{ms("QLinearAveragePool", "q s z ys yz", "r",
			list64("kernel_shape", 1, 3), list64("pads", 0, 1, 0, 0), intAttr("count_include_pad", 1))},
			[]float64{0.25, 0.75, -0.5, 41.5}, ""},
		{"QLinearMatMul", row, 1, 10, with(columns(i8, 0), op("QLinearMatMul", "q s z w ws wz ys yz", "r")),
			[]float64{63, -1}, ""},
		{"QLinearMatMul, u8 around 128", row, 1, 10, with(columns(u8, 128), op("QLinearMatMul",
			"q s z w ws wz ys yz", "r")), []float64{63, -1}, ""},
		{"QLinearConv", image, 1, 10, with(kernels(i8, 0, 3), bias, convolve),
			[]float64{1, 2, 2, 1, 0, 63, -1, -1, 0, -1, -1, -2}, ""},
		{"QLinearConv, u8", image, 1, 10, with(kernels(u8, 1, 200), bias, convolve),
			[]float64{1, 2, 2, 1, 0, 63, -1, -1, 49, -1, -1, -10}, ""},
		{"ConvInteger", image, 1, 0, with(kernels(i8, 0, 3), op("ConvInteger", "q w z wz", "i"),
			op("Cast", "i", "f", intAttr("to", 1)), op("QuantizeLinear", "f ys yz", "r")),
			[]float64{2, 4, 0, 249, 0, 6, 0, 0}, ""},
		{"MatMulInteger", row, 1, 5, with(columns(i8, 0), op("MatMulInteger", "q w z wz", "i"),
			op("Cast", "i", "f", intAttr("to", 1)), op("QuantizeLinear", "f ys yz", "r")), []float64{250, -5}, ""},
		{"QGemm", row, 1, 10, with(weight(i8, 0, []int64{2, 6}, 1, 1, 1, 1, 1, 1, 2, -1, 0, 0, 1, 0), bias,
			ms("QGemm", "q s z w ws wz b ys yz", "r", intAttr("transB", 1))), []float64{64, -2}, ""},
		{"QLinearReduceMean", image, 0.25, 6, nodes{ms("QLinearReduceMean", "q s z ys yz", "r", list64("axes", 2, 3))},
			[]float64{21}, ""},
		{"QLinearWhere", row, 1, 10, nodes{floats("k", []int64{6}, 1, 1, 1, 1, -5, 1), op("Less", "x k", "less"),
			wholes("k8", u8, nil, 9), ms("QLinearWhere", "less q s z k8 s z ys yz", "r")},
			[]float64{0, 1, 3, 0, -2, 3}, "table_int8"},
		{"nearest pixels", image, 0.5, 3, nodes{floats("by", []int64{4}, 1, 1, 2, 0.67), op("Resize", "q  by", "r")},
			[]float64{0, 1, 0, 1, 0, 126, 0, 126}, ""},
		{"nearest pixels, half-way", image, 0.5, 3, nodes{floats("by", []int64{4}, 1, 1, 1, 2), op("Resize", "q  by", "r",
			textAttr("nearest_mode", "floor"))}, []float64{0, 0, 0, 1, 1, 1, 0, 0, 0, -1.5, -1.5, 126}, ""},
		{"QGemm of floats", row, 0.125, 100, with(weight(i8, 0, []int64{2, 6}, 0, 1, 1, 1, 1, 0, 2, -1, 0, 0, 1, 0), bias,
			ms("QGemm", "q s z w ws wz b", "f", intAttr("transB", 1)), op("QuantizeLinear", "f ys yz", "r")),
			[]float64{1.25, -1.625}, ""},
		{"QuantizeLinear of com.microsoft", row, 0.5, 3, nodes{ms("DequantizeLinear", "q s z", "f"),
			ms("QuantizeLinear", "f ys yz", "r")}, []float64{0, 1, 1, 0, -1.5, 126}, ""},
		{"cast as it is", row, 0.5, 3, nodes{op("Cast", "q", "r", intAttr("to", int(u8)))}, []float64{0, 1, 1, 0, -1.5, 126},
			""},
		{"padded", row, 0.5, 3, nodes{ints("p", 0, 1, 0, 1), wholes("pv", u8, nil, 5), op("Pad", "q p pv", "r")},
			[]float64{1, 0, 1, 1, 0, -1.5, 126, 1}, ""},
		{"looked up", row, 0.5, 3, nodes{wholes("table", u8, []int64{256}, slices.Repeat([]int32{7, 9, 11, 13}, 64)...),
			op("Cast", "q", "i", intAttr("to", 6)), op("Gather", "table i", "r")}, []float64{5, 3, 3, 5, 2, 5}, ""},
		{"moved", row, 0.5, 3, nodes{ints("six", 0, 1, 2, 3), op("Reshape", "q six", "a"), op("MaxPool", "a", "p",
			list64("kernel_shape", 1, 2)), op("Transpose", "p", "u", list64("perm", 0, 1, 3, 2)),
			op("Concat", "u u", "v", intAttr("axis", 2)), op("Flatten", "v", "r")},
			[]float64{1, 0, 1, 126, 1, 0, 1, 126}, ""},
	}
	for _, c := range cases {
		m := modelOf(13, 0, c.shape, nil, ofIntegers(u8, 3, c.ys, c.yz, c.nodes...)...)
		elements(t, c.name, m, x, c.want)
		has := func(of ...string) bool {
			return slices.ContainsFunc(operations(t, m), func(o string) bool { return slices.Contains(of, o) })
		}
		if c.without == "" && has("conv", "dense", "add", "mul", "concat", "sigmoid", "avg_pool", "max_pool", "pad") ||
			c.without != "" && has(c.without) {
			t.Errorf("%s: operations are %v", c.name, operations(t, m))
		}
	}
	// The same steps in i8: zero points and bounds are smaller by 128.
	m := modelOf(13, 0, row, nil, ofIntegers(i8, -125, 1, -118, ms("QLinearAdd", "q s z q s z ys yz", "r"))...)
	elements(t, "i8", m, x, []float64{0, 2, 2, 0, -3, 245})
}

// TestDynamicRanges: each row is quantised by its range. By hand: from -51 to 204 there
// are 255 steps of 1, and 51 is the zero point. A row of zeros has a scale of 1.
func TestDynamicRanges(t *testing.T) {
	list := nodes{op("DynamicQuantizeLinear", "x", "q s z"), floats("ws", nil, 0.5),
		wholes("w", i8, []int64{6, 2}, 1, 2, 1, -1, 1, 0, 1, 0, 1, 1, 1, 0), op("MatMulInteger", "q w z", "i"),
		op("Cast", "i", "f", intAttr("to", 1)), op("Mul", "s ws", "by"), op("Mul", "f by", "y")}
	m := modelOf(13, 0, []int64{6}, nil, list...)
	elements(t, "a range", m, []float64{-51, 204, 0.4, 1.6, 10, -3.2}, []float64{81, -148})
	elements(t, "zeros", m, make([]float64, 6), []float64{0, 0})
	fused := func(op *onnxpb.NodeProto) *onnxpb.ModelProto {
		return modelOf(13, 0, []int64{6}, nil, append(slices.Clone(list[:3]), floats("wq", []int64{2}, 0.5, 0.25), floats("wb", []int64{2}, 1, -2),
			op)...)
	}
	elements(t, "fused", fused(ms("MatMulIntegerToFloat", "q w s ws z - wb", "y")),
		[]float64{-51, 204, 0.4, 1.6, 10, -3.2}, []float64{82, -150})
	elements(t, "fused with the range", modelOf(13, 0, []int64{6}, nil, append(slices.Clone(list[2:3]),
		floats("wq", []int64{2}, 0.5, 0.25), floats("wb", []int64{2}, 1, -2), ms("DynamicQuantizeMatMul", "x w wq - wb", "y"))...),
		[]float64{-51, 204, 0.4, 1.6, 10, -3.2}, []float64{82, -76})
	note := "each row has its own"
	if f := readModel(t, m); len(f.Findings) != 1 || !strings.Contains(f.Findings[0].Text, note) {
		t.Errorf("notes are %v", f.Findings)
	}
	m = modelOf(13, 1, []int64{6}, nil, list...)
	if f := readModel(t, m); f.NoModel != nil || len(f.Findings) != 0 {
		t.Errorf("a batch of 1: %v, %v", f.NoModel, f.Findings)
	}
	two := readModel(t, modelOf(13, 2, []int64{6}, nil, list...))
	if two.NoModel != nil || len(two.Model.Input().Shape) != 2 {
		t.Errorf("a batch of 2 is no sample of its own: %v", two.NoModel)
	}
	picture := modelOf(13, 0, []int64{1, 2, 3}, nil, op("DynamicQuantizeLinear", "x", "q s z"),
		wholes("w", u8, []int64{1, 1, 1, 2}, 130, 127), wholes("wz", u8, nil, 128),
		op("ConvInteger", "q w z wz", "i", list64("pads", 0, 1, 0, 0)), op("Cast", "i", "y", intAttr("to", 1)))
	elements(t, "a picture", picture, []float64{-51, 204, 0.4, 1.6, 10, -3.2}, []float64{51, -306, 408, -2, -6, 23})
}

// TestSaturation: a layer with feature maps of u8 is named if the sum of two weights of a
// channel exceeds 128 in magnitude.
func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    onnxpb.TensorProto_DataType
		weights []int32 // weights of two channels
		want    string
	}{
		{"apart", u8, []int32{64, 64, 1, 127, -127, 1}, ""},
		{"together", u8, []int32{64, 64, 1, 127, 0, 2}, "1 of 1 layer (r)"},
		{"below", u8, []int32{-64, 1, -65, 1, 1, 1}, "1 of 1 layer (r)"},
		{"i8", i8, []int32{127, 127, 127, 127, 127, 127}, ""},
	} {
		weight := nodes{wholes("w", i8, []int64{2, 3}, c.weights...), floats("ws", nil, 0.5), wholes("wz", i8, nil, 0)}
		zero := map[onnxpb.TensorProto_DataType]int32{u8: 3, i8: -125}[c.kind]
		sum := ms("QGemm", "q s z w ws wz - ys yz", "r", intAttr("transB", 1))
		qdq := append(slices.Clone(weight), op("DequantizeLinear", "q s z", "a"), op("DequantizeLinear", "w ws wz", "b"),
			op("Gemm", "a b", "r", intAttr("transB", 1)), op("QuantizeLinear", "r ys yz", "g"))
		bounded := append(slices.Clone(qdq[:len(qdq)-1]), op("Relu", "r", "p"),
			op("QuantizeLinear", "p ys yz", "g"))
		for form, m := range map[string]*onnxpb.ModelProto{
			"QGemm": modelOf(13, 0, []int64{3}, nil, ofIntegers(c.kind, zero, 1, zero, append(weight, sum)...)...),
			"QDQ":   modelOf(13, 0, []int64{3}, nil, ofIntegers(c.kind, zero, 1, zero, qdq...)[:12]...),
			"QDQ, Relu": modelOf(13, 0, []int64{3}, nil,
				ofIntegers(c.kind, zero, 1, zero, bounded...)[:13]...),
		} {
			got := ""
			for _, k := range readModel(t, m).Counters {
				if k.Name == "saturates elsewhere" {
					got = k.Value
				}
			}
			want := c.want
			if form != "QGemm" { // the QuantizeLinear names the layer's result
				want = strings.Replace(want, "(r)", "(g)", 1)
			}
			if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
				t.Errorf("%s, %s: got %q, want %q", c.name, form, got, want)
			}
		}
	}
}

// TestIntegerRefusals: a node without a defined result is refused by its name.
func TestIntegerRefusals(t *testing.T) {
	for _, c := range []struct {
		want  string
		nodes nodes
	}{
		{"with channels_last", ofIntegers(u8, 3, 1, 0, ms("QLinearGlobalAveragePool", "q s z ys yz", "r",
			intAttr("channels_last", 1)))},
		{"of operator set 11 in a file of 13", ofIntegers(u8, 3, 1, 0, ms("QLinearSoftmax", "q s z ys yz", "r",
			intAttr("opset", 11)))},
		{"of u8 with a zero point of i8", ofIntegers(u8, 3, 1, 0, wholes("n", i8, nil, 0),
			ms("QLinearAdd", "q s n q s z ys yz", "r"))},
		{"with a scale of 0;", ofIntegers(u8, 3, 0, 0, ms("QLinearAdd", "q s z q s z ys yz", "r"))},
		{"operands, want a scale", ofIntegers(u8, 3, 1, 0, ms("QLinearConcat", "ys yz q s", "r"))},
		{"com.microsoft.QMoE (1) (quantise the file in QDQ form", ofIntegers(u8, 3, 1, 0, ms("QMoE", "q s z ys yz", "r"))},
		{"quantise the file in QDQ form", ofIntegers(u8, 3, 1, 0, floats("two", []int64{4}, 1, 1, 1, 2),
			op("Resize", "q  two", "r", textAttr("mode", "linear")))},
	} {
		f := readModel(t, modelOf(13, 0, []int64{1, 2, 3}, nil, c.nodes...))
		if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.want) {
			t.Errorf("%v, want %s", f.NoModel, c.want)
		}
	}
}

// integerNetwork returns a network of integer operators: a convolution, a depthwise one, a
// residual sum, a mean and a dense layer.
func integerNetwork(kind onnxpb.TensorProto_DataType, zero int32, weights onnxpb.TensorProto_DataType,
	middle int32) *onnxpb.ModelProto {
	scaled := func(name string, s float32, z int32) nodes {
		return nodes{floats(name+"s", nil, s), wholes(name+"z", kind, nil, z)}
	}
	weight := func(name string, dims []int64, step int, scale ...float32) nodes {
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		var v, zeros []int32
		for i := range n {
			v = append(v, int32((int(i)*step)%253-126)+middle)
		}
		for range scale {
			zeros = append(zeros, middle)
		}
		return nodes{wholes(name, weights, dims, v...), floats(name+"s", dims[:1], scale...),
			wholes(name+"z", weights, dims[:1], zeros...)}
	}
	var list nodes
	list = append(list, scaled("a", 0.02, zero)...)
	list = append(list, scaled("c", 0.11, zero)...)
	list = append(list, scaled("d", 0.2, zero+3)...)
	list = append(list, scaled("e", 0.25, zero-7)...)
	list = append(list, scaled("g", 0.03, zero)...)
	list = append(list, scaled("h", 0.05, zero+1)...)
	list = append(list, weight("w", []int64{3, 3, 3, 3}, 37, 0.01, 0.02, 0.015)...)
	list = append(list, weight("v", []int64{3, 1, 3, 3}, 91, 0.01, 0.007, 0.02)...)
	list = append(list, weight("u", []int64{2, 3}, 55, 0.01, 0.02)...)
	list = append(list, wholes("b", i32, []int64{3}, 700, -900, 12), op("QuantizeLinear", "x as az", "a"),
		op("QLinearConv", "a as az w ws wz cs cz b", "c", list64("pads", 1, 1, 1, 1)),
		op("QLinearConv", "c cs cz v vs vz ds dz", "d", list64("pads", 1, 1, 1, 1), intAttr("group", 3)),
		ms("QLinearAdd", "c cs cz d ds dz es ez", "e"),
		ms("QLinearGlobalAveragePool", "e es ez gs gz", "g"), op("Flatten", "g", "f"),
		ms("QGemm", "f gs gz u us uz - hs hz", "h", intAttr("transB", 1)), op("DequantizeLinear", "h hs hz", "y"))
	m := modelOf(13, 0, []int64{3, 6, 6}, nil, list...)
	m.OpsetImport = append(m.OpsetImport, &onnxpb.OperatorSetIdProto{Domain: "com.microsoft", Version: 1})
	m.Graph.Output[0].Type = &onnxpb.TypeProto{TensorType: &onnxpb.TypeProto_Tensor{
		ElemType: int32(onnxpb.TensorProto_FLOAT)}}
	return m
}

// TestPeerIntegers: a network of integer operators has the same results in ONNX Runtime.
// The file that bnctl writes differs from them by at most one step, both in bnctl and in
// ONNX Runtime.
func TestPeerIntegers(t *testing.T) {
	needPeers(t)
	for _, c := range []struct {
		kind    onnxpb.TensorProto_DataType
		zero    int32
		weights onnxpb.TensorProto_DataType
		middle  int32
	}{{u8, 100, i8, 0}, {i8, -28, i8, 0}, {u8, 100, u8, 128}} {
		b, err := proto.Marshal(integerNetwork(c.kind, c.zero, c.weights, c.middle))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "integers.onnx")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := opened(path)
		if err != nil {
			t.Fatal(err)
		}
		isConv := func(n graph.Node) bool { return n.Op == graph.Conv }
		if !m.Int8() || slices.ContainsFunc(m.Graph.Main.Nodes, isConv) {
			t.Errorf("%v %v is not of bytes: %v", c.kind, c.weights, m.Graph.Main)
		}
		x := ramp(m, 4)
		got, err := eval(m, x)
		if err != nil {
			t.Fatal(err)
		}
		const step = 0.05
		steps := func(name string, d, most float64) {
			if t.Logf("%v %v: %s: %g steps", c.kind, c.weights, name, d/step); !(d <= most*step+1e-6) {
				t.Errorf("%v %v: %s: %g steps", c.kind, c.weights, name, d/step)
			}
		}
		if math.Abs(got[0].F64()[0]) < step {
			t.Errorf("the answers are %v", got[0].F64())
		}
		steps("ONNX Runtime", worst(got[0], ort(t, path, x)["y"]), 0)
		out := written(t, m)
		steps("written, in ONNX Runtime", worst(got[0], ort(t, out, x)["y"]), 1)
		again, err := opened(out)
		if err != nil {
			t.Fatal(err)
		}
		back, err := eval(again, x)
		if err != nil {
			t.Fatal(err)
		}
		d := 0.0
		for i, v := range back[0].F64() {
			d = max(d, math.Abs(v-got[0].F64()[i]))
		}
		steps("written, read again", d, 1)
	}
}
