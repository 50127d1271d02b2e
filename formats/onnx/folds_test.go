package onnx

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

type nodes = []*onnxpb.NodeProto

// floats returns a Constant of floats.
func floats(name string, dims []int64, v ...float32) *onnxpb.NodeProto {
	t := &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_FLOAT), Dims: dims, FloatData: v}
	return &onnxpb.NodeProto{OpType: "Constant", Output: []string{name},
		Attribute: settings{{Name: "value", Type: onnxpb.AttributeProto_TENSOR, T: t}}}
}

// scalarOf returns a Constant of one integer.
func scalarOf(name string, v int64) *onnxpb.NodeProto {
	return &onnxpb.NodeProto{OpType: "Constant", Output: []string{name},
		Attribute: settings{intAttr("value_int", int(v))}}
}

// computedBy returns the result of nodes on constants, as the file's reader computes it.
func computedBy(t *testing.T, opset int64, result string, list ...*onnxpb.NodeProto) string {
	t.Helper()
	m := modelOf(opset, 0, []int64{2, 3}, nil, append(list, op("Identity", result, "out"))...)
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.Decode(strings.NewReader(string(b)), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(d.Model, int(opset), len(b), &foreign.File{})
	need := make([]bool, len(list)+1)
	if err := cmp.Or(r.initializers(d, &decode.External{}), border{r}.input(need)); err != nil {
		t.Fatal(err)
	}
	for _, n := range d.Model.Graph.Node {
		if operatorOf(n) == "Constant" {
			r.decoder, r.external = d, &decode.External{}
			if err := (subgraphs{r}).branchConstant(n); err != nil {
				return err.Error()
			}
		} else if err := r.node(n); err != nil {
			return err.Error()
		}
	}
	x, _, err := r.operand("out")
	if err != nil || !x.IsConstant() {
		return fmt.Sprint(err, " no constant")
	}
	return printedConstant(x.Tensor)
}

// printedConstant writes type, shape and elements: "i64[2] [1 2]".
func printedConstant(t tensor.Tensor) string {
	if isFloat(t.DType) {
		f, err := t.ToF32()
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(t, " ", f.F32())
	}
	l, err := integersOf(t)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(fmt.Sprint(t, " ", l), fmt.Sprint(int64(anyBatch)), "N")
}

// TestFolds compares the results of operators on constants with values computed by hand. x
// is [N,2,3].
func TestFolds(t *testing.T) {
	a := ints("a", 5, 1, 4)
	square := floats("f", []int64{2, 2}, 1, 2, 3, 4)
	for _, c := range []struct {
		want  string
		nodes nodes
	}{
		{"i64[3] [4 1 5]", nodes{a, ints("s", -1), ints("e", -1<<62), ints("d", 0), ints("p", -1),
			op("Slice", "a s e d p", "r")}},
		{"i64[2] [4 5]", nodes{a, ints("s", 9), ints("e", -9), ints("d", 0), ints("p", -2),
			op("Slice", "a s e d p", "r")}},
		{"i64[2] [5 4]", nodes{a, ints("i", 0, -1), op("Gather", "a i", "r")}},
		{"index 3 of an axis of 3", nodes{a, ints("i", 3), op("Gather", "a i", "r")}},
		{"bool[3] [1 0 0]", nodes{a, ints("k", 4), op("Greater", "a k", "r")}},
		{"bool[3] [0 0 1]", nodes{a, ints("k", 4), op("Equal", "a k", "r")}},
		{"i64[3] [5 7 7]", nodes{a, ints("k", 4), ints("y", 7), op("Greater", "a k", "t"),
			op("Where", "t a y", "r")}},
		{"i64[3] [0 2 4]", nodes{scalarOf("z", 0), scalarOf("l", 5), scalarOf("d", 2),
			op("Range", "z l d", "r")}},
		{"i64[3] [2 1 1]", nodes{a, ints("k", 3), op("Mod", "a k", "r")}},
		{"i64[3] [-1 -2 -2]", nodes{a, ints("k", -3), op("Mod", "a k", "r")}},
		{"divides by zero", nodes{a, ints("k", 0), op("Mod", "a k", "r")}},
		{"i64[3] [5 9 8]", nodes{a, ints("i", 2, 1), ints("two", 2, 1), op("Reshape", "i two", "j"),
			ints("u", 8, 9), op("ScatterND", "a j u", "r")}},
		{"i64[] [20]", nodes{a, op("ReduceProd", "a", "r", intAttr("keepdims", 0))}},
		{"i64[1] [10]", nodes{a, op("ReduceSum", "a", "r")}},
		{"f32[2] [5 25]", nodes{square, ints("i", 1), op("ReduceSumSquare", "f", "r",
			list64("axes", 1), intAttr("keepdims", 0))}},
		{"f32[2,2] [1 0 3 4]", nodes{square, op("Trilu", "f", "r", intAttr("upper", 0))}},
		{"f32[2,2] [7 10 15 22]", nodes{square, op("MatMul", "f f", "r")}},
		{"f32[2] [1 4]", nodes{square, op("Einsum", "f", "r", textAttr("equation", "ii->i"))}},
		{"f32[2,2] [10 14 14 20]", nodes{square, op("Einsum", "f f", "r",
			textAttr("equation", "ij,ik->jk"))}},
		{"f32[2,2] [1 2 4 6]", nodes{square, scalarOf("k", 0), op("CumSum", "f k", "r")}},
		{"f32[2,2] [1 4 9 16]", nodes{square, floats("k", nil, 2), op("Pow", "f k", "r")}},
		{"f32[2,2] [1 1.4142135 1.7320508 2]", nodes{square, floats("k", nil, 0.5),
			op("Pow", "f k", "r")}},
		{"i64[3] [1 1 1]", nodes{a, ints("k", 1), op("Min", "a k", "r")}},
		{"i64[3] [4 2 4]", nodes{a, scalarOf("l", 2), scalarOf("h", 4), op("Clip", "a l h", "r")}},
		{"i64[3] [3 3 3]", nodes{a, scalarOf("l", 4), scalarOf("h", 3), op("Clip", "a l h", "r")}},
		{"i64[3] [N 2 3]", nodes{op("Shape", "x", "s"), scalarOf("l", 1), op("Clip", "s l", "r")}},
		{"f32[2,2] [1.5 2 3 3.5]", nodes{square, floats("l", nil, 1.5), floats("h", nil, 3.5),
			op("Clip", "f l h", "r")}},
		{"operand 1 is i64[2], want one number", nodes{a, ints("l", 2, 3), op("Clip", "a l", "r")}},
		{"i64[6] [5 1 4 5 1 4]", nodes{a, ints("k", 2), op("Tile", "a k", "r")}},
		{"i64[5] [4 1 5 1 4]", nodes{a, ints("k", 0, 2), ints("s", -1), ints("e", -1<<62),
			ints("d", 0), op("Slice", "a s e d s", "b"), ints("p", 0, 2),
			op("Pad", "b p", "r", textAttr("mode", "reflect"))}},
		{"i64[2,1] [0 2]", nodes{ints("q", 3, 0, 4), op("NonZero", "q", "n"),
			op("Transpose", "n", "r")}},
		// The length N of an open batch passes through nodes that do not depend on it.
		{"i64[3] [N 2 3]", nodes{op("Shape", "x", "r")}},
		{"i64[3] [N 2 3]", nodes{op("Shape", "x", "s"), ints("k", 1, 1, 1), op("Mul", "s k", "r")}},
		{"bool[3] [0 0 0]", nodes{op("Shape", "x", "s"), ints("k", -1), op("Equal", "s k", "r")}},
		{"i64[3] [N 2 3]", nodes{op("Shape", "x", "s"), ints("k", 1), op("Max", "s k", "r")}},
		{"computes with the length of the batch", nodes{op("Shape", "x", "s"), ints("k", 2),
			op("Mod", "s k", "r")}},
		{"i64[1] [6]", nodes{op("Size", "x", "p"), op("Shape", "x", "s"), ints("z", 0), op("Gather", "s z", "n"),
			op("Div", "p n", "r")}},
		{"i64[1] [6]", nodes{op("Shape", "x", "s"), op("ReduceProd", "s", "p"), ints("z", 0),
			op("Gather", "s z", "n"), op("Div", "p n", "r")}},
		{"computes with the length of the batch", nodes{op("Shape", "x", "s"), op("ReduceSum", "s", "r")}},
		{"computes with the length of the batch", nodes{op("Shape", "x", "s"), op("ReduceSumSquare", "s", "r")}},
		// Hostile sizes are refused before memory is allocated.
		{"take more than", nodes{scalarOf("z", 0), scalarOf("l", 1<<31-2), scalarOf("d", 1),
			op("Range", "z l d", "r")}},
		{"a length of", nodes{scalarOf("z", 0), scalarOf("l", 5), scalarOf("d", 0),
			op("Range", "z l d", "r")}},
		{"repeats are", nodes{a, ints("k", 1<<40), op("Tile", "a k", "r")}},
		{"over an axis without elements", nodes{floats("q", []int64{0}), op("ReduceMax", "q", "r")}},
	} {
		result := "r"
		opset := int64(17)
		if last := c.nodes[len(c.nodes)-1]; last.OpType == "ReduceSum" {
			opset = 11
		}
		if got := computedBy(t, opset, result, c.nodes...); !strings.Contains(got, c.want) ||
			strings.HasSuffix(c.want, "]") && got != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.nodes[len(c.nodes)-1], got, c.want)
		}
	}
}

// TestBatchOfOne: if the file fixes the batch to 1, operators that move, join or drop its
// axis are read, and a note describes what a row of the input is. With an open batch they
// are refused.
func TestBatchOfOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes nodes
		want  string // text of the graph
	}{
		{"moved and flattened", nodes{op("Transpose", "x", "t", list64("perm", 2, 1, 0)),
			ints("s", -1, 2), op("Reshape", "t s", "y")}, "shape=[3,2]"},
		{"joined", nodes{op("Concat", "x x", "y", intAttr("axis", 0))}, "concat("},
		{"reduced", nodes{op("ReduceMean", "x", "y", intAttr("keepdims", 0))}, "axes=[0,1,2]"},
		{"softmax", nodes{op("Softmax", "x", "y", intAttr("axis", 0))}, "softmax("},
		{"repeated", nodes{ints("k", 2, 1, 1), op("Tile", "x k", "y")}, "take("},
	} {
		got := readModel(t, modelOf(13, 1, []int64{2, 3}, nil, c.nodes...))
		if text := became(got); !strings.Contains(text, c.want) || strings.Contains(text, "node 0") {
			t.Errorf("%s: %s\nwant %s", c.name, text, c.want)
		}
		if !strings.Contains(fmt.Sprint(got.Findings), "every row is a batch of its own") {
			t.Errorf("%s: no note: %v", c.name, got.Findings)
		}
		if open := readModel(t, modelOf(13, 0, []int64{2, 3}, nil, c.nodes...)); open.NoModel == nil {
			t.Errorf("%s: an open batch is read", c.name)
		}
	}
}

// TestRefusals: the error lists every unsupported operator with its number of nodes, and
// the reasons for other nodes.
func TestRefusals(t *testing.T) {
	got := became(readModel(t, modelOf(13, 0, []int64{4, 3}, nil,
		op("MadeUp", "x", "a"), op("MadeUp", "x", "b"), op("Relu", "x", "c", intAttr("odd", 1)),
		op("Add", "a b", "d"), op("Other", "d", "e"), op("Add", "c e", "y"))))
	for _, want := range []string{"operators that are not supported: MadeUp (2), Other (1)",
		`node 2 (Relu c): has an attribute "odd"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// branches returns an If with two branches of one node each.
func branches(condition, output string, then, otherwise *onnxpb.NodeProto) *onnxpb.NodeProto {
	of := func(name string, n *onnxpb.NodeProto) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_GRAPH, G: &onnxpb.GraphProto{
			Node:   nodes{n},
			Output: []*onnxpb.ValueInfoProto{{Name: n.Output[0]}}}}
	}
	return op("If", condition, output, of("then_branch", then), of("else_branch", otherwise))
}

// TestBranches: an If with a constant condition is replaced by the branch that the
// condition chooses. PyTorch's squeeze writes one to test whether a length is 1.
func TestBranches(t *testing.T) {
	condition := nodes{op("Shape", "x", "s"), ints("i", 2), op("Gather", "s i", "n"), ints("k", 3),
		op("Equal", "n k", "c")}
	for length, want := range map[int64]string{3: "relu(", 4: "sigmoid("} {
		n := append(condition, branches("c", "y", op("Relu", "x", "t"), op("Sigmoid", "x", "e")))
		got := became(readModel(t, modelOf(13, 0, []int64{2, length}, nil, n...)))
		if !strings.Contains(got, want) {
			t.Errorf("length %d: %s\nwant %s", length, got, want)
		}
	}
	n := branches("x", "y", op("Relu", "x", "t"), op("Sigmoid", "x", "e"))
	if got := became(readModel(t, modelOf(13, 0, []int64{1}, nil, n))); !strings.Contains(got,
		"whose condition is computed from the input") {
		t.Errorf("of data: %s", got)
	}
}

// TestBranchesHaveNamesOfTheirOwn: two Ifs may use the same names for different values, and a branch may
// use the name of the If's result for a value.
func TestBranchesHaveNamesOfTheirOwn(t *testing.T) {
	weight := func(v float32) []*onnxpb.TensorProto {
		return []*onnxpb.TensorProto{{Name: "w", DataType: int32(onnxpb.TensorProto_FLOAT), FloatData: []float32{v}}}
	}
	first := branches("c", "y", op("Mul", "x w", "t"), op("Neg", "x", "e"))
	second := branches("c", "z", op("Mul", "y w", "t"), op("Neg", "y", "e"))
	third := branches("c", "last", op("Abs", "z", "last"), op("Neg", "z", "e"))
	first.Attribute[0].G.Initializer, second.Attribute[0].G.Initializer = weight(3), weight(5)
	file := readModel(t, modelOf(13, 0, []int64{2}, nil, alwaysTrue("c"), first, second, third))
	if file.NoModel != nil {
		t.Fatal(file.NoModel)
	}
	got := became(file)
	for _, want := range []string{"t = affine(x, by=3)", "t.2 = affine(t, by=5)", "relu(t.2)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestOneNumberOfHigherRank: if a constant of one number has more axes than the value, the
// result has the number of axes of the constant.
func TestOneNumberOfHigherRank(t *testing.T) {
	for _, name := range []string{"Add", "Sub", "Mul", "Sum", "Mean"} {
		k := constantOf("k", &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_FLOAT),
			Dims: []int64{1, 1, 1, 1}, FloatData: []float32{0.5}})
		n := op("Softmax", "v", "y", intAttr("axis", 1))
		got := became(readModel(t, modelOf(13, 3, []int64{4}, nil, k, op(name, "x k", "v"), n)))
		if !strings.Contains(got, "rows f32[1,1,3,4]") {
			t.Errorf("%s: %s", name, got)
		}
	}
	slope := constantOf("k", &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_FLOAT), Dims: []int64{1, 1, 1},
		FloatData: []float32{0.5}})
	const want = "for a value of rank 2"
	got := became(readModel(t, modelOf(13, 0, []int64{4}, nil, slope, op("PRelu", "x k", "y"))))
	if !strings.Contains(got, want) {
		t.Errorf("PRelu: %s\nwant %s", got, want)
	}
}

// TestMeanVarianceAxes: the axes may be in any order, and negative axes count from the end.
func TestMeanVarianceAxes(t *testing.T) {
	for _, axes := range [][]int{{2, 3}, {3, 2}, {-1, -2}, {-1, 2}} {
		n := op("MeanVarianceNormalization", "x", "y", intsAttr("axes", axes...))
		got := became(readModel(t, modelOf(13, 0, []int64{3, 4, 5}, nil, n)))
		if strings.Count(got, "axes=[1,2]") != 3 { // the variance again, for large values
			t.Errorf("axes %v: %s", axes, got)
		}
	}
}

// TestLocalFunctions: a call becomes the nodes of the function, with the attributes of the
// call. A function that calls itself is refused.
func TestLocalFunctions(t *testing.T) {
	slope := &onnxpb.AttributeProto{Name: "alpha", RefAttrName: "slope", Type: onnxpb.AttributeProto_FLOAT}
	f := &onnxpb.FunctionProto{Name: "Twice", Domain: "mine", Input: []string{"a"}, Output: []string{"b"},
		Attribute: []string{"slope"}, OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: 17}},
		Node: nodes{op("LeakyRelu", "a", "m", slope), op("LeakyRelu", "m", "b", slope)}}
	call := func(in, out string) *onnxpb.NodeProto {
		n := op("Twice", in, out, floatAttr("slope", 0.25))
		n.Domain = "mine"
		return n
	}
	m := modelOf(17, 0, []int64{3}, nil, call("x", "y"), call("y", "z"))
	m.Functions = []*onnxpb.FunctionProto{f}
	if got := became(readModel(t, m)); strings.Count(got, "leaky_relu(") != 4 ||
		!strings.Contains(got, "alpha=0.25") {
		t.Errorf("%s", got)
	}
	f.Node[1] = call("m", "b")
	for want, version := range map[string]int64{"more than 64 deep": 17, "of operator set 12 in a model of 17": 12} {
		f.OpsetImport[0].Version = version
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ReadFrom(strings.NewReader(string(b)), int64(len(b)), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
