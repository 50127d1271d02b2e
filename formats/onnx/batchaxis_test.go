package onnx

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestMovedBatch: with an open batch, operators that move the batch axis or join it with
// another are read if rows stay independent. (TestCases compares the results of such files
// with ONNX Runtime.)
func TestMovedBatch(t *testing.T) {
	behind := op("Transpose", "x", "t", list64("perm", 1, 0, 2))                         // (4, N, 3)
	joined := nodes{behind, ints("s", -1, 3), op("Reshape", "t s", "j")}                 // (4*N, 3)
	back := op("Transpose", "u", "y", list64("perm", 1, 0, 2))                           // (N, 4, 3)
	folded := nodes{ints("s", -1, 3), op("Reshape", "x s", "j")}                         // (N*4, 3)
	length := nodes{op("Shape", "x", "all"), ints("i", 0), op("Gather", "all i", "len")} // [N]
	for _, c := range []struct {
		name  string
		nodes nodes
		want  string
	}{
		{"there and back", nodes{behind, op("Relu", "t", "u"), back}, "relu("},
		{"not back", nodes{behind, op("Relu", "t", "y")}, "moves the batch axis to axis 1"},
		{"joined", append(folded, op("Relu", "j", "y")), "mixes the rows of the batch with 4 others in axis 0"},
		{"softmax over it", nodes{behind, op("Softmax", "t", "u", intAttr("axis", 1)), back}, "works along the batch axis"},
		{"softmax from it on", nodes{behind, op("Softmax", "t", "u", intAttr("axis", 0)), back}, "works along the batch axis"},
		{"softmax behind it", nodes{behind, op("Softmax", "t", "u", intAttr("axis", 2)), back}, "softmax("},
		{"reduced over it", nodes{behind, op("ReduceMax", "t", "u", list64("axes", 1)), back}, "works along the batch axis"},
		{"all reduced", nodes{behind, op("ReduceMax", "t", "u"), back}, "works along the batch axis"},
		{"joined to another place", append(joined, op("Relu", "j", "r"), ints("k", -1, 4, 3),
			op("Reshape", "r k", "y")), "mixes the rows of the batch"},
		{"joined and parted", append(joined, op("Relu", "j", "r"), ints("k", 4, -1, 3), op("Reshape", "r k", "u"), back),
			"relu("},
		{"of two axisRules", nodes{behind, op("Add", "x t", "u"), back}, "works along the batch axis"},
		{"a constant along it", nodes{behind, floats("c", []int64{2, 1}, 1, 2), op("Add", "t c", "u"), back},
			"works along the batch axis"},
		{"a constant beside it", nodes{behind, floats("c", []int64{4, 1, 1}, 1, 2, 3, 4), op("Add", "t c", "u"), back},
			"add("},
		{"a part of it", nodes{behind, op("Slice", "t 0 1 1", "u"), back}, "works along the batch axis"},
		{"joined along it", nodes{behind, op("Concat", "t t", "u", intAttr("axis", 1)), back}, "works along the batch axis"},
		{"a window of joined rows", append(folded, floats("w", []int64{1, 3, 1}, 1, 2, 3), op("Unsqueeze", "j", "l",
			list64("axes", 2)), op("Conv", "l w", "y")), "which has lost its batch axis"},
		{"twice its length", append(length, op("Add", "len len", "two"), ints("k", 2, 3),
			op("Concat", "two k", "s", intAttr("axis", 0)), op("Reshape", "x s", "j"), op("Relu", "j", "r"),
			ints("w", 4, 3), op("Concat", "len w", "v", intAttr("axis", 0)), op("Reshape", "r v", "y")), "relu("},
		{"half its length", append(length, ints("k", 2), op("Div", "len k", "y")), "computes with the length of the batch"},
		{"integers in every row", append(length, ints("k", 1), op("Expand", "k len", "y")),
			"computes with the length of the batch"},
		{"integers along it", append(length, ints("k", 1, 2), op("Expand", "k len", "y")), "of i64[2] to [1]"},
	} {
		constants := nodes{ints("0", 0), ints("1", 1)}
		got := became(readModel(t, modelOf(11, 0, []int64{4, 3}, nil, append(constants, c.nodes...)...)))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestFixedBatch: a file fixes the batch to 2. If every Reshape keeps an axis of that length first, the
// rows stay separate samples; otherwise the whole input becomes one sample.
func TestFixedBatch(t *testing.T) {
	const rows, whole = "x rows f32[4,3]", "x rows f32[2,4,3]"
	for to, want := range map[string]string{
		"8 3": whole, "2 12": rows, "-1 4 3": rows, "4 6": whole, "3 8": whole, "24": whole, "1 2 12": whole,
		"8 3/2 12": rows, "4 -1/-1 2 6": rows, "3 8/2 12": whole, "1 2 12/2 12": rows, "8 3/4 6/2 4 3": rows,
		"4 3 2/2 12": rows, "1 24/2 12": rows, "12 2/2 12": rows, "24 1/3 8/2 12": whole,
	} {
		list := nodes{op("Relu", "x", "r"), op("Transpose", "r", "t", list64("perm", 1, 0, 2)),
			op("Transpose", "t", "y0", list64("perm", 1, 0, 2))}
		for i, one := range strings.Split(to, "/") {
			var shape []int64
			for _, n := range strings.Fields(one) {
				v, err := strconv.ParseInt(n, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				shape = append(shape, v)
			}
			s, from := fmt.Sprint("s", i), fmt.Sprint("y", i)
			list = append(list, ints(s, shape...), op("Reshape", from+" "+s, fmt.Sprint("y", i+1)))
		}
		list = append(list, op("Identity", fmt.Sprint("y", strings.Count(to, "/")+1), "y"))
		got := became(readModel(t, modelOf(13, 2, []int64{4, 3}, nil, list...)))
		if !strings.Contains(got, want) {
			t.Errorf("to %s: %s\nwant %s", to, got, want)
		}
	}
}
