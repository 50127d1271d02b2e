package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestSequenceErase splits x = 0 1 2 3 4 5 into three pairs, erases one pair and joins the
// others. The result is the same as with del on a list in Python.
func TestSequenceErase(t *testing.T) {
	along := intAttr("axis", 1)
	split := nodes{scalarInt("two", 2), op("SplitToSequence", "x two", "s", along)}
	join := op("ConcatFromSequence", "r", "y", along)
	without := func(k int64) nodes {
		return slices.Concat(split, nodes{scalarInt("k", k), op("SequenceErase", "s k", "r"), join})
	}
	for _, c := range []struct {
		name  string
		nodes nodes
		want  []float64
	}{
		{"the first", without(0), []float64{2, 3, 4, 5}},
		{"the second", without(1), []float64{0, 1, 4, 5}},
		{"the last", without(-1), []float64{0, 1, 2, 3}},
		{"the first from the end", without(-3), []float64{2, 3, 4, 5}},
		{"without a place", slices.Concat(split, nodes{op("SequenceErase", "s", "r"), join}), []float64{0, 1, 2, 3}},
		{"the sequence before", slices.Concat(split, nodes{op("SequenceErase", "s", "q"),
			op("ConcatFromSequence", "s", "y", along)}), []float64{0, 1, 2, 3, 4, 5}},
	} {
		if got := evalCounting(t, modelOf(17, 0, []int64{6}, nil, c.nodes...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	empty := &onnxpb.NodeProto{OpType: "SequenceEmpty", Output: []string{"e"}}
	for want, wrong := range map[string]nodes{
		"place 3 of a sequence of 3": without(3),
		"the sequence is empty":      {empty, op("SequenceErase", "e", "r"), join},
		"place 0 of a sequence of 0": {empty, scalarInt("k", 0), op("SequenceErase", "e k", "r"), join},
		"is no sequence":             {op("SequenceErase", "x", "r"), join},
		"computed from the input": slices.Concat(split, nodes{op("Cast", "x", "i", intAttr("to", 7)),
			op("SequenceErase", "s i", "r"), join}),
	} {
		if got := became(readModel(t, modelOf(17, 0, []int64{6}, nil, wrong...))); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
