package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// scalarInt returns a Constant of one integer without an axis.
func scalarInt(name string, v int64) *onnxpb.NodeProto {
	n := ints(name, v)
	n.Attribute[0].T.Dims = nil
	return n
}

// TestSequences compares values that are joined and split at known indices with the results
// of NumPy, for x = 0 1 2 3 4 5.
func TestSequences(t *testing.T) {
	along := intAttr("axis", 1)
	empty := &onnxpb.NodeProto{OpType: "SequenceEmpty", Output: []string{"e"}}
	split := nodes{scalarInt("two", 2), op("SplitToSequence", "x two", "s", along)}
	at := func(name string, k int64, from string) nodes {
		return nodes{scalarInt("k"+name, k), op("SequenceAt", from+" k"+name, name)}
	}
	for _, c := range []struct {
		name  string
		nodes nodes
		want  []float64
	}{
		{"a chunk", slices.Concat(split, at("y", 1, "s")), []float64{2, 3}},
		{"the last", slices.Concat(split, at("y", -1, "s")), []float64{4, 5}},
		{"given lengths", slices.Concat(nodes{ints("l", 1, 5), op("SplitToSequence", "x l", "s", along)},
			at("y", 1, "s")),
			[]float64{1, 2, 3, 4, 5}},
		{"one by one", slices.Concat(nodes{op("SplitToSequence", "x", "s", along, intAttr("keepdims", 0))},
			at("a", 3, "s"),
			nodes{ints("ax", 1), op("Unsqueeze", "a ax", "y")}), []float64{3}},
		{"joined again", slices.Concat(split, at("a", 2, "s"), nodes{empty,
			op("SequenceInsert", "e a", "q"), scalarInt("z", 0), op("SequenceInsert", "q x z", "r"),
			op("ConcatFromSequence", "r", "y", along)}), []float64{0, 1, 2, 3, 4, 5, 4, 5}},
		{"on each other", slices.Concat(split, at("a", 0, "s"), at("b", 2, "s"), nodes{
			op("SequenceConstruct", "b a", "q"),
			op("ConcatFromSequence", "q", "y", intAttr("axis", 1), intAttr("new_axis", 1))}), []float64{4, 5, 0, 1}},
	} {
		if got := evalCounting(t, modelOf(17, 0, []int64{6}, nil, c.nodes...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		nodes nodes
		want  string
	}{
		{slices.Concat(split, at("y", 3, "s")), "place 3 of a sequence of 3"},
		{slices.Concat(split, nodes{op("Relu", "s", "y")}), "takes a sequence"},
		{split, "is a sequence"},
		{slices.Concat(split, nodes{op("Cast", "x", "i", intAttr("to", 7)), op("SequenceAt", "s i", "y")}),
			"computed from the input"},
		{nodes{empty, op("ConcatFromSequence", "e", "y", along)}, "empty sequence"},
	} {
		f := readModel(t, modelOf(17, 0, []int64{6}, nil, c.nodes...))
		if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.nodes, f.NoModel, c.want)
		}
	}
}

// TestLoops: a loop with a known number of rounds becomes the nodes of all rounds.
func TestLoops(t *testing.T) {
	named := func(names ...string) (l []*onnxpb.ValueInfoProto) {
		for _, n := range names {
			l = append(l, &onnxpb.ValueInfoProto{Name: n})
		}
		return l
	}
	body := func(in, out string, all ...*onnxpb.NodeProto) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: "body", Type: onnxpb.AttributeProto_GRAPH, G: &onnxpb.GraphProto{
			Node: all, Input: named(strings.Fields(in)...), Output: named(strings.Fields(out)...)}}
	}
	times := func(count string, b *onnxpb.AttributeProto) nodes {
		return nodes{scalarInt("three", 3), op("Loop", count+"  x", "y", b)}
	}
	twice := body("i c v", "c w", op("Add", "v v", "w"))
	while := body("i c v", "d w", op("Add", "v x", "w"), op("Less", "i three", "d"))
	for _, c := range []struct {
		name  string
		nodes nodes
		want  []float64
	}{
		{"three rounds", times("three", twice), []float64{0, 8, 16}},
		{"while", times("", while), []float64{0, 5, 10}},
		{"none", nodes{scalarInt("zero", 0), op("Loop", "zero  x", "y", twice)}, []float64{0, 1, 2}},
	} {
		if got := evalCounting(t, modelOf(17, 0, []int64{3}, nil, c.nodes...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		nodes nodes
		want  string
	}{
		{times("", twice), "rounds"},
		{nodes{op("Cast", "x", "n", intAttr("to", 7)), op("Loop", "n  x", "y", twice)}, "computed from the input"},
		{times("three", body("i c v", "d w", op("Add", "v v", "w"), op("Cast", "v", "d", intAttr("to", 9)))),
			"condition is computed"},
		{times("three", body("i c v", "c w k", op("Add", "v v", "w"), op("Neg", "v", "k"))), "collects a result"},
	} {
		f := readModel(t, modelOf(17, 0, []int64{3}, nil, c.nodes...))
		if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.nodes, f.NoModel, c.want)
		}
	}
}

// TestUnreadIndices: the second result of a MaxPool, its indices, is accepted if nothing
// reads it. PyTorch always writes it.
func TestUnreadIndices(t *testing.T) {
	m := modelOf(17, 0, []int64{1, 2, 2}, nil, op("MaxPool", "x", "y indices", list64("kernel_shape", 2, 2)))
	if got := evalCounting(t, m); !slices.Equal(got, []float64{3}) {
		t.Errorf("%v, want 3", got)
	}
}

// TestLoopInFunction: the names in a loop's body belong to the function's call.
func TestLoopInFunction(t *testing.T) {
	value := func(name string) *onnxpb.ValueInfoProto { return &onnxpb.ValueInfoProto{Name: name} }
	body := &onnxpb.GraphProto{Node: nodes{op("Cast", "i", "f", intAttr("to", 1)), op("Add", "v f", "w")},
		Input:  []*onnxpb.ValueInfoProto{value("i"), value("c"), value("v")},
		Output: []*onnxpb.ValueInfoProto{value("c"), value("w")}}
	loop := op("Loop", "n  a", "b", &onnxpb.AttributeProto{Name: "body", Type: onnxpb.AttributeProto_GRAPH, G: body})
	m := modelOf(17, 0, []int64{2}, nil, scalarInt("four", 4),
		&onnxpb.NodeProto{OpType: "Sum4", Domain: "own", Input: []string{"x", "four"}, Output: []string{"z"}},
		&onnxpb.NodeProto{OpType: "Sum4", Domain: "own", Input: []string{"z", "four"}, Output: []string{"y"}})
	m.Functions = []*onnxpb.FunctionProto{{Name: "Sum4", Domain: "own", Input: []string{"a", "n"}, Output: []string{"b"},
		Node: nodes{loop}, OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: 17}}}}
	if got := evalCounting(t, m); !slices.Equal(got, []float64{12, 13}) {
		t.Errorf("%v, want 12 and 13", got)
	}
}
