package onnx

import (
	"strings"
	"testing"
)

// An output with the length of the batch is refused. Earlier releases returned the number that
// represents this length in the reader.
func TestLengthOfTheBatchAsOutput(t *testing.T) {
	for name, n := range map[string]nodes{
		"shape":  {op("Shape", "x", "y")},
		"cast":   {op("Shape", "x", "s"), castTo("s", "y", 6)},
		"concat": {op("Shape", "x", "s"), ints("k", 7), op("Concat", "s k", "y", intAttr("axis", 0))},
		"double": {op("Shape", "x", "s"), op("Add", "s s", "y")},
		"pick":   {op("Shape", "x", "s"), ints("k", 0), op("Gather", "s k", "y")},
	} {
		got := became(readModel(t, modelOf(13, 0, []int64{2, 3}, nil, n...)))
		if !strings.Contains(got, "computes with the length of the batch") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
