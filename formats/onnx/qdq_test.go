package onnx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// TestQDQ: an operator between a DequantizeLinear and a QuantizeLinear becomes an operator
// of integers. The expected numbers were computed by hand: q has 0, 1, 1, 0, -1.5, 126 in
// steps of 0.5.
func TestQDQ(t *testing.T) {
	x := []float64{0.25, 0.75, 1.25, -0.25, -1000, 1000}
	row, image := []int64{6}, []int64{1, 2, 3}
	dq := func(name, scale, zero, out string) *onnxpb.NodeProto {
		return op("DequantizeLinear", name+" "+scale+" "+zero, out)
	}
	axis := func(n *onnxpb.NodeProto, to int) *onnxpb.NodeProto {
		n.Attribute = append(n.Attribute, intAttr("axis", to))
		return n
	}
	q, a := op("QuantizeLinear", "f ys yz", "r"), dq("q", "s", "z", "a")
	with := func(list ...*onnxpb.NodeProto) nodes { return append(append(nodes{a}, list...), q) }
	weight := func(dims []int64, outputs int, v ...int32) nodes {
		return nodes{wholes("w", i8, dims, v...), floats("ws", []int64{2}, 0.5, 0.25), wholes("wz", i8, []int64{2}, 0, 0),
			axis(dq("w", "ws", "wz", "wf"), outputs)}
	}
	kernels := weight([]int64{2, 1, 1, 2}, 0, 1, 1, 3, 0)
	bias := nodes{wholes("b", i32, []int64{2}, 4, -8), floats("bs", []int64{2}, 0.25, 0.125),
		op("DequantizeLinear", "b bs", "bf", intAttr("axis", 0))}
	columns := weight([]int64{6, 2}, 1, 1, 2, 1, -1, 1, 0, 1, 0, 1, 1, 1, 0)
	rows := weight([]int64{2, 6}, 0, 1, 1, 1, 1, 1, 1, 2, -1, 0, 0, 1, 0)
	pads := list64("pads", 0, 1, 0, 0)
	conv := slices.Concat(kernels, bias, nodes{op("Conv", "a wf bf", "c", pads)})
	for _, c := range []struct {
		name  string
		shape []int64
		ys    float32
		yz    int32
		nodes nodes
		want  []float64
		ops   string // between quantize and dequantize
	}{
		{"Conv", image, 1, 10, with(append(slices.Clone(kernels), append(slices.Clone(bias), op("Conv", "a wf bf", "f",
			pads))...)...), []float64{1, 2, 2, 1, 0, 63, -1, -1, 0, -1, -1, -2}, "conv_int8"},
		{"Conv, Relu", image, 1, 10, with(append(slices.Clone(conv), op("Relu", "c", "f"))...),
			[]float64{1, 2, 2, 1, 0, 63, 0, 0, 0, 0, 0, 0}, "conv_int8"},
		{"Conv, Clip", image, 1, 10, with(append(slices.Clone(conv), floats("low", nil, -1), floats("high", nil, 6),
			op("Clip", "c low high", "f"))...), []float64{1, 2, 2, 1, 0, 6, -1, -1, 0, -1, -1, -1}, "conv_int8"},
		{"Conv, a bias of floats", image, 1, 10, with(slices.Concat(kernels, nodes{floats("bf", []int64{2}, 1, -1),
			op("Conv", "a wf bf", "f", pads)})...), []float64{1, 2, 2, 1, 0, 63, -1, -1, 0, -1, -1, -2}, "conv_int8"},
		{"Conv as PyTorch writes it", image, 1, 10, slices.Concat(nodes{op("Cast", "q", "u", intAttr("to", int(u8))),
			op("Cast", "u", "v", intAttr("to", int(u8))), dq("v", "s", "z", "a"), ints("two", 2), op("ConstantOfShape", "two", "zeros"),
			op("Cast", "zeros", "bz", intAttr("to", int(i32)))}, kernels, bias[:2], nodes{axis(dq("b", "bs", "bz", "bf"), 0),
			op("Conv", "a wf bf", "c", pads), op("Relu", "c", "f"), q}), []float64{1, 2, 2, 1, 0, 63, 0, 0, 0, 0, 0, 0},
			"conv_int8"},
		{"Conv as TensorRT writes it", image, 1, 10, with(floats("wx", []int64{2, 1, 1, 2}, 0.5, 0.5, 0.75, 0), kernels[1],
			kernels[2], axis(op("QuantizeLinear", "wx ws wz", "w"), 0), kernels[3], floats("bf", []int64{2}, 1, -1),
			op("Conv", "a wf bf", "f", pads)), []float64{1, 2, 2, 1, 0, 63, -1, -1, 0, -1, -1, -2}, "conv_int8"},
		{"MatMul", row, 1, 10, with(append(slices.Clone(columns), op("MatMul", "a wf", "f"))...), []float64{63, -1},
			"dense_int8"},
		{"MatMul, Add", row, 1, 10, with(append(slices.Clone(columns), floats("bf", []int64{2}, 1, -1),
			op("MatMul", "a wf", "m"), op("Add", "m bf", "f"))...), []float64{64, -2}, "dense_int8"},
		{"Gemm", row, 1, 10, with(append(slices.Clone(rows), floats("bf", []int64{2}, 1, -1),
			op("Gemm", "a wf bf", "f", intAttr("transB", 1)))...), []float64{64, -2}, "dense_int8"},
		{"Add", row, 1, 10, with(op("Add", "a a", "f")), []float64{0, 2, 2, 0, -3, 245}, "add_int8"},
		{"Add, Relu", row, 1, 10, with(op("Add", "a a", "g"), op("Relu", "g", "f")), []float64{0, 2, 2, 0, 0, 245},
			"add_int8"},
		{"Mul", row, 0.5, 0, with(op("Mul", "a a", "f")), []float64{0, 1, 1, 0, 2, 127.5}, "mul_int8"},
		{"Concat of one scale", row, 0.25, 6, with(op("Concat", "a a", "f", intAttr("axis", 1))),
			[]float64{0, 1, 1, 0, -1.5, 62.25, 0, 1, 1, 0, -1.5, 62.25}, "concat_int8 table_int8"},
		{"LeakyRelu", row, 0.25, 6, with(op("LeakyRelu", "a", "f", floatAttr("alpha", 0.5))),
			[]float64{0, 1, 1, 0, -0.75, 62.25}, "table_int8"},
		{"Relu", row, 0.5, 3, with(op("Relu", "a", "f")), []float64{0, 1, 1, 0, 0, 126}, "table_int8"},
		{"Sigmoid", row, 1.0 / 256, 0, with(op("Sigmoid", "a", "f")),
			[]float64{0.5, 187.0 / 256, 187.0 / 256, 0.5, 47.0 / 256, 255.0 / 256}, "table_int8"},
		{"another scale", row, 1, 3, with(op("Identity", "a", "f")), []float64{0, 1, 1, 0, -2, 126}, "table_int8"},
		{"GlobalAveragePool", image, 0.25, 6, with(op("GlobalAveragePool", "a", "f")), []float64{21}, "avg_pool_int8"},
		{"ReduceMean", image, 0.25, 6, with(op("ReduceMean", "a", "f", list64("axes", 2, 3), intAttr("keepdims", 0))),
			[]float64{21}, "avg_pool_int8 reshape"},
		{"MaxPool, Flatten", image, 0.5, 3, with(op("MaxPool", "a", "m", list64("kernel_shape", 1, 2)),
			op("Flatten", "m", "f")), []float64{1, 1, 0, 126}, "max_pool_int8 reshape"},
		{"padded", row, 0.5, 3, with(ints("p", 0, 1, 0, 0), op("Pad", "a p", "f")), []float64{0, 0, 1, 1, 0, -1.5, 126},
			"pad_int8"},
		{"Softmax stays in floats", row, 1.0 / 256, 0, with(op("Softmax", "a", "f", intAttr("axis", 1))),
			[]float64{0, 0, 0, 0, 0, 255.0 / 256}, "dequantize softmax quantize"},
	} {
		m := modelOf(13, 0, c.shape, nil, ofIntegers(u8, 3, c.ys, c.yz, c.nodes...)...)
		elements(t, c.name, m, x, c.want)
		got := strings.Join(operations(t, m), " ")
		if want := "quantize " + c.ops + " dequantize"; got != want {
			t.Errorf("%s: operations are %s, want %s", c.name, got, want)
		}
	}
	// The last product of a file has results of floats.
	last := with(append(slices.Clone(rows), op("Gemm", "a wf", "y", intAttr("transB", 1)))...)
	m := modelOf(13, 0, row, nil, ofIntegers(u8, 3, 1, 0, last[:len(last)-1]...)[:11]...)
	elements(t, "floats", m, x, []float64{63.25, -0.625})
	if got := fmt.Sprint(operations(t, m)); got != "[quantize dense_int8]" {
		t.Errorf("operations of the last product are %s", got)
	}
}

// TestGlobalMean: the factor for a sum of n bytes is x/(y*n), rounded to f32 after each
// operation. The sum is 181. ONNX Runtime 1.30 returns 95 steps on a processor with AVX2; a
// factor that is rounded only once would give 96.
func TestGlobalMean(t *testing.T) {
	const x, y = float32(0.38973424), float32(0.12310977)
	m := modelOf(13, 0, []int64{1, 2, 3}, nil, floats("s", nil, x), wholes("z", u8, nil, 0),
		floats("ys", nil, y), op("QuantizeLinear", "x s z", "q"), op("DequantizeLinear", "q s z", "a"),
		op("GlobalAveragePool", "a", "f"), op("QuantizeLinear", "f ys z", "r"),
		op("DequantizeLinear", "r ys z", "y"))
	in := []float64{31, 30, 30, 30, 30, 30}
	for i := range in {
		in[i] *= float64(x)
	}
	elements(t, "a mean", m, in, []float64{float64(95 * y)})
}

// TestJoint: a sum or a product is rounded after its zero point is added. The sum is 0, 3,
// 3, 0, -4.5 and 378 steps, the product 0, 2, 2, 0, 4.5 and 31752. ONNX Runtime 1.30 has
// the same results.
func TestJoint(t *testing.T) {
	x := []float64{0.25, 0.75, 1.25, -0.25, -1.5, 1000}
	for _, kind := range []struct {
		of   onnxpb.TensorProto_DataType
		less int32
	}{{u8, 0}, {i8, 128}} {
		sum := modelOf(13, 0, []int64{6}, nil, ofIntegers(kind.of, 3-kind.less, 0.5, 11-kind.less,
			op("DequantizeLinear", "q s z", "a"), floats("bs", nil, 0.25), op("DequantizeLinear", "q bs z", "b"),
			op("Add", "a b", "f"), op("QuantizeLinear", "f ys yz", "r"))...)
		elements(t, "a sum", sum, x, []float64{0, 1.5, 1.5, 0, -2.5, 122})
		product := modelOf(13, 0, []int64{6}, nil, ofIntegers(kind.of, 3-kind.less, 0.5, 1-kind.less,
			op("DequantizeLinear", "q s z", "a"), op("Mul", "a a", "f"), op("QuantizeLinear", "f ys yz", "r"))...)
		elements(t, "a product", product, x, []float64{0, 1, 1, 0, 2.5, 127})
	}
}

// TestWrittenQDQ: a network of integers is written in QDQ form. The network that is read
// from that file computes the same bits.
func TestWrittenQDQ(t *testing.T) {
	for _, kind := range []onnxpb.TensorProto_DataType{u8, i8} {
		zero := map[onnxpb.TensorProto_DataType]int32{u8: 100, i8: -28}[kind]
		first := readModel(t, integerNetwork(kind, zero, i8, 0))
		if first.NoModel != nil {
			t.Fatal(first.NoModel)
		}
		again := back(t, first.Model)
		x := ramp(first.Model, 4)
		want, err := eval(first.Model, x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := eval(again.Model, x)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[0].F64(), want[0].F64()) {
			t.Errorf("%v: answers are %v, want %v", kind, got[0].F64(), want[0].F64())
		}
		isFloat := func(n graph.Node) bool { return n.Op == graph.Conv || n.Op == graph.Dense || n.Op == graph.Add }
		if slices.ContainsFunc(again.Model.Graph.Main.Nodes, isFloat) {
			t.Errorf("%v: it is not read in bytes: %v", kind, again.Model.Graph.Main)
		}
	}
}

// TestQDQOfOtherTypes: integers keep their type if no zero point names it. A scale is
// checked although no operator of floats is left that uses it.
func TestQDQOfOtherTypes(t *testing.T) {
	m := modelOf(21, 0, []int64{3}, nil, floats("s", nil, 0.5), wholes("z", u8, nil, 0),
		op("QuantizeLinear", "x s", "q", intAttr("output_dtype", int(i8))), op("DequantizeLinear", "q s", "a"),
		op("QuantizeLinear", "a s z", "r"), op("DequantizeLinear", "r s z", "y"))
	elements(t, "i8 without a zero point", m, []float64{-1, 1, 100}, []float64{0, 1, 63.5})
	m = modelOf(13, 0, []int64{3}, nil, floats("s", nil, 0.5), wholes("z", i8, nil, 0), op("QuantizeLinear", "x s z", "q"),
		op("DequantizeLinear", "q s z", "a"), op("Add", "a a", "f"), op("QuantizeLinear", "f s", "r"),
		op("DequantizeLinear", "r s", "y"))
	elements(t, "u8 without a zero point, of i8", m, []float64{-1, 1, 100}, []float64{0, 2, 127})
	m = modelOf(13, 0, []int64{1, 2, 3}, nil, ofIntegers(u8, 3, 1, 0, floats("n", nil, -0.5),
		op("DequantizeLinear", "q n z", "a"), op("MaxPool", "a", "f", list64("kernel_shape", 1, 2)),
		op("QuantizeLinear", "f n z", "r"))...)
	if f := readModel(t, m); f.NoModel == nil || !strings.Contains(f.NoModel.Error(), "with a scale of -0.5;") {
		t.Errorf("a negative scale: %v", f.NoModel)
	}
}
