package fold

import (
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestLengthOfBatch: arithmetic with the length N of the batch is exact or rejected.
func TestLengthOfBatch(t *testing.T) {
	c := &node.Node{Shared: &node.Shared{}, Proto: &onnxpb.NodeProto{}}
	n := element.BatchTimes
	for _, x := range []struct{ got, want int64 }{
		{addIntegers(c, n(2), n(3)), n(5)}, {addIntegers(c, n(2), 0), n(2)}, {addIntegers(c, 0, n(2)), n(2)},
		{subtractIntegers(c, n(3), n(1)), n(2)}, {subtractIntegers(c, n(3), n(3)), 0}, {subtractIntegers(c, n(3),
			0), n(3)},
		{multiplyIntegers(c, n(3), 4), n(12)}, {multiplyIntegers(c, 4, n(3)), n(12)}, {multiplyIntegers(c, n(3), 0),
			0},
		{divideIntegers(c, n(12), 4), n(3)}, {divideIntegers(c, n(12), n(4)), 3}, {divideIntegers(c, 7, 2), 3},
		{largerInteger(c, n(3), 3), n(3)}, {largerInteger(c, 2, n(3)), n(3)}, {largerInteger(c, n(2), n(3)), n(3)},
		{smallerInteger(c, n(3), 3), 3}, {smallerInteger(c, 2, n(3)), 2}, {smallerInteger(c, n(2), n(3)), n(2)},
		{int64(compareIntegers(c, n(2), 1)), 1}, {int64(compareIntegers(c, 1, n(2))), -1},
		{int64(compareIntegers(c, n(2), n(2))), 0},
	} {
		if x.got != x.want || c.Err != nil {
			t.Errorf("%d, want %d; %v", x.got, x.want, c.Err)
		}
	}
	for name, f := range map[string]func() int64{
		"N+1": func() int64 { return addIntegers(c, n(1), 1) }, "1-N": func() int64 {
			return subtractIntegers(c, 1,
				n(1))
		},
		"N-2N": func() int64 {
			return subtractIntegers(c, n(1),
				n(2))
		}, "N*N": func() int64 { return multiplyIntegers(c, n(1), n(1)) },
		"-N": func() int64 { return multiplyIntegers(c, n(1), -1) }, "3N/2": func() int64 {
			return divideIntegers(c,
				n(3), 2)
		},
		"6/N": func() int64 {
			return divideIntegers(c, 6,
				n(1))
		}, "max(N,2)": func() int64 { return largerInteger(c, n(1), 2) },
		"min(N,2)": func() int64 { return smallerInteger(c, n(1), 2) },
		"too many": func() int64 { return multiplyIntegers(c, n(1<<20), 1<<20) },
	} {
		c.Err = nil
		if f(); c.Err == nil {
			t.Errorf("%s is computed", name)
		}
	}
}
