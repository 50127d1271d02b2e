package onnx

import (
	"strings"
	"testing"
)

// TestGrowing: indices that are computed from the number of the row are supported if each
// row picks elements of itself, at the same offsets in all rows. Other uses are refused.
// (TestCases compares such files with ONNX Runtime.)
func TestGrowing(t *testing.T) {
	flat := nodes{op("Shape", "x", "all"), scalarOf("i", 0), op("Gather", "all i", "len"), scalarOf("zero", 0),
		scalarOf("one", 1), scalarOf("twelve", 12), ints("wild", -1), op("Reshape", "x wild", "f"),
		op("Range", "zero len one", "r"), op("Mul", "r twelve", "at")} // (N, 4, 3)
	add := func(more ...nodes) (all nodes) {
		all = append(all, flat...)
		for _, l := range more {
			all = append(all, l...)
		}
		return all
	}
	take := nodes{op("Gather", "f k", "y")}
	for _, c := range []struct {
		name  string
		nodes nodes
		want  string
	}{
		{"the first of each", add(nodes{op("Identity", "at", "k")}, take), "slice("},
		{"the last of each", add(nodes{ints("c", 11), op("Add", "at c", "k")}, take), "slice("},
		{"one behind the last", add(nodes{ints("c", 12), op("Add", "at c", "k")}, take), "takes elements of other rows"},
		{"one before the first", add(nodes{ints("c", 1), op("Sub", "at c", "k")}, take), "takes elements of other rows"},
		{"less than a row on", add(nodes{op("Identity", "r", "k")}, take), "computes with the length of the batch"},
		{"more than a row on", add(nodes{op("Add", "at r", "k")}, take), "computes with the length of the batch"},
		{"backwards", add(nodes{op("Sub", "zero at", "k")}, take), "computes with the length of the batch"},
		{"its square", add(nodes{op("Mul", "at r", "k")}, take), "computes with the length of the batch"},
		{"its rest", add(nodes{op("Mod", "at twelve", "k")}, take), "computes with the length of the batch"},
		{"from the second row", add(nodes{op("Range", "one len one", "q"), op("Mul", "q twelve", "k")}, take),
			"computes with the length of the batch"},
		{"every second row", add(nodes{scalarOf("two", 2), op("Range", "zero len two", "q"), op("Mul", "q twelve", "k")},
			take), "computes with the length of the batch"},
		{"of a constant", add(nodes{floats("w", []int64{2, 1}, 1, 2), op("Gather", "w r", "g"), op("Add", "x g", "y")}),
			"computes with the length of the batch"},
		{"of another axis", add(nodes{op("Gather", "x r", "y", intAttr("axis", 1))}), "computes with the length of the batch"},
		{"all of each row", add(nodes{op("Gather", "x r", "y")}), "reshape("},
		{"the same in every row", add(nodes{ints("c", 0, 3), ints("two", 2), ints("n1", -1), op("Reshape", "len n1", "ln"),
			op("Concat", "ln two", "to", intAttr("axis", 0)), op("Expand", "c to", "e"), ints("col", -1, 1),
			op("Reshape", "at col", "a"), op("Add", "e a", "k")}, take), "slice("},
		{"the same in every row alone", add(nodes{ints("c", 0, 3), ints("two", 2), ints("n1", -1), op("Reshape", "len n1", "ln"),
			op("Concat", "ln two", "to", intAttr("axis", 0)), op("Expand", "c to", "k")}, take),
			"computes with the length of the batch"},
		{"a length as a float", add(nodes{op("Cast", "len", "y", intAttr("to", 1))}), "computes with the length of the batch"},
		{"half a length", add(nodes{op("Cast", "len", "l", intAttr("to", 1)), floats("h", nil, 0.5), op("Mul", "l h", "y")}),
			"computes with the length of the batch"},
		{"a length and a half", add(nodes{ints("n1", -1), op("Reshape", "len n1", "ln"), op("Cast", "ln", "l", intAttr("to", 1)),
			floats("h", []int64{1}, 0.5), op("Concat", "l h", "y", intAttr("axis", 0))}),
			"computes with the length of the batch"},
		{"a length in a sequence", add(nodes{op("Cast", "len", "l", intAttr("to", 1)), op("SequenceConstruct", "l", "q"),
			op("SequenceAt", "q zero", "y")}), "computes with the length of the batch"},
		{"an output", add(nodes{op("Identity", "at", "y")}), "computes with the length of the batch"},
		{"a term", add(nodes{op("Cast", "r", "v", intAttr("to", 1)), op("Add", "x v", "y")}),
			"computes with the length of the batch"},
		{"a condition", add(nodes{op("Equal", "r zero", "v"), op("Where", "v x x", "y")}),
			"computes with the length of the batch"},
		{"one term", add(nodes{op("Add", "at", "k")}, take), "computes with the length of the batch"},
		{"no shape", add(nodes{op("Reshape", "at", "k")}, take), "works along the batch axis"},
		{"no indices", add(nodes{op("Gather", "at", "k")}, take), "computes with the length of the batch"},
		{"a window", add(nodes{op("Conv", "x r", "y")}), "computes with the length of the batch"},
	} {
		got := became(readModel(t, modelOf(11, 0, []int64{4, 3}, nil, c.nodes...)))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestDigits: digitsOf accepts offsets that are ranges of digits in mixed radices, and no
// other offsets.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		n, first     int
		steps, shape []int
		want         bool
	}{
		{24, 0, []int{6, 1}, []int{4, 6}, true},
		{24, 0, []int{1, 6}, []int{6, 4}, true},
		{24, 7, []int{6, 2}, []int{3, 2}, true},
		{24, 7, []int{6, 2}, []int{4, 2}, false}, // the last offset is beyond the axis
		{24, 4, []int{6, 2}, []int{3, 2}, false}, // offset 6 is in the next group of six
		{24, 0, []int{5, 1}, []int{2, 2}, false}, // 5 does not divide 24
		{24, 0, []int{2, 1}, []int{3, 3}, false}, // windows that overlap
		{24, 0, []int{0, 1}, []int{3, 3}, false}, // equal offsets, which overlap too
	} {
		if _, ok := digitsOf(c.n, c.first, c.steps, c.shape); ok != c.want {
			t.Errorf("%v: %v", c, ok)
		}
	}
}
