package onnx

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// TestWholes: integers are computed from indices, as in heads that compute rows and columns
// of the points that they pick. The expected numbers are Python's // and %. In 0 1 ... 11,
// a picture of width 4, the largest elements have the indices 11 and 10.
func TestWholes(t *testing.T) {
	picks := nodes{ints("k", 2), op("TopK", "x k", "v i"), ints("W", 4), op("Div", "i W", "row")}
	i64 := onnxpb.TensorProto_INT64
	for _, c := range []struct {
		name  string
		nodes nodes
		want  string
	}{
		{"quotient", nodes{op("Identity", "row", "y")}, "y i64[1,2] [2 2]"},
		{"remainder", nodes{op("Mod", "i W", "y")}, "y i64[1,2] [3 2]"},
		{"remainder of C", nodes{op("Mod", "i W", "y", intAttr("fmod", 1))}, "y i64[1,2] [3 2]"},
		{"remainder by parts", nodes{op("Mul", "row W", "first"), op("Sub", "i first", "y")}, "y i64[1,2] [3 2]"},
		{"of the other type", nodes{op("Cast", "i", "j", intAttr("to", int(onnxpb.TensorProto_INT32))),
			wholes("W32", onnxpb.TensorProto_INT32, nil, 4), op("Mod", "j W32", "m"),
			op("Cast", "m", "y", intAttr("to", int(i64)))}, "y i64[1,2] [3 2]"},
		{"points", nodes{op("Mod", "i W", "column"), ints("last", -1), op("Unsqueeze", "row last", "a"),
			op("Unsqueeze", "column last", "b"), op("Concat", "a b", "y", intAttr("axis", -1))},
			"y i64[1,2,2] [2 3 2 2]"},
		{"a point that moves", nodes{ints("one", 1), op("Add", "row one", "n"), op("Mul", "n n", "y")},
			"y i64[1,2] [9 9]"},
		{"the floor of PyTorch", nodes{ints("none", 0), op("Less", "i none", "negative"), op("Mul", "row W", "first"),
			op("Sub", "i first", "rest"), op("Equal", "rest none", "whole"), op("Not", "whole", "more"),
			op("And", "negative more", "fix"), op("Cast", "fix", "one", intAttr("to", int(i64))),
			op("Sub", "row one", "y")}, "y i64[1,2] [2 2]"},
		{"a choice between places", nodes{ints("two", 2), op("Less", "row two", "b"), op("Where", "b i row", "y")},
			"y i64[1,2] [2 2]"},
		{"a quotient of a choice", nodes{ints("last", 11), op("Less", "i last", "b"), ints("seven", 7),
			op("Where", "b seven i", "n"), op("Div", "n W", "y")}, "y i64[1,2] [2 1]"},
		{"a quotient of chosen constants", nodes{ints("ten", 10), op("Greater", "i ten", "b"), ints("seven", 7),
			ints("three", 3), op("Where", "b seven three", "n"), op("Div", "n W", "y")}, "y i64[1,2] [1 0]"},
		{"a constant that f32 does not have", nodes{ints("ten", 10), op("Less", "i ten", "b"), ints("n", 1<<24+1),
			op("Where", "b n i", "y")}, "takes the integer 16777217, which f32 does not have"},
		{"a quotient by the input", nodes{op("Div", "W i", "y")}, "of integers that come from the input"},
		{"a quotient of what may be negative", nodes{op("Sub", "i W", "n"), op("Div", "n W", "y")},
			"of integers that come from the input"},
		{"a remainder by 0", nodes{ints("none", 0), op("Mod", "i none", "y")}, "of integers that come from the input"},
		{"what f32 does not have", nodes{ints("large", 1<<22), op("Mul", "i large", "y")},
			"of integers that come from the input"},
		{"a remainder of floats", nodes{floats("w", nil, 4), op("Mod", "x w", "y", intAttr("fmod", 1))},
			"only of places that ArgMax, ArgMin or TopK make"},
	} {
		m := modelOf(17, 0, []int64{12}, nil, append(append(nodes{}, picks...), c.nodes...)...)
		m.Graph.Output = []*onnxpb.ValueInfoProto{{Name: "y"}}
		f := readModel(t, m)
		if f.NoModel != nil || !strings.HasPrefix(c.want, "y ") {
			if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, f.NoModel, c.want)
			}
			continue
		}
		x := tensor.New(tensor.F32, 1, 12)
		for i := range x.F32() {
			x.F32()[i] = float32(i)
		}
		if got := typedOutputs(t, f.Model, x); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestQuotientsAreWhole: for integers below 2^24, the floor of an f32 quotient is the
// quotient of the integers. The test tries dividends near multiples of several divisors.
func TestQuotientsAreWhole(t *testing.T) {
	for _, by := range []int{1, 3, 7, 28, 255, 256, 641, 4095, 1 << 20, 3<<21 + 1} {
		for q := 0; (q+1)*by+by < maxPlaces; q += 1 + q/64 {
			for _, x := range []int{q * by, q*by + 1, (q+1)*by - 1} {
				if got := int(float32(x) / float32(by)); got != x/by {
					t.Fatalf("%d by %d is %d, want %d", x, by, got, x/by)
				}
			}
		}
	}
}
