package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// evalCounting returns the first output of a model for one row of 0, 1, 2 and so on.
func evalCounting(t *testing.T, m *onnxpb.ModelProto) []float64 {
	t.Helper()
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	x := tensor.New(tensor.F32, append([]int{1}, f.Model.Input().Shape...)...)
	for i := range x.F32() {
		x.F32()[i] = float32(i)
	}
	y, err := eval(f.Model, x)
	if err != nil {
		t.Fatal(err)
	}
	return y[0].F64()
}

// TestPlaces picks elements of an axis in any order. The expected elements are those of
// NumPy's indexing, pad, tile and take.
func TestPlaces(t *testing.T) {
	pad := func(mode string, before, after int64) []*onnxpb.NodeProto {
		return nodes{ints("p", 0, before, 0, after), op("Pad", "x p", "y", textAttr("mode", mode))}
	}
	slice := func(begin, end, step int64) []*onnxpb.NodeProto {
		return nodes{ints("b", begin), ints("e", end), ints("a", 1), ints("s", step), op("Slice", "x b e a s", "y")}
	}
	for _, c := range []struct {
		name  string
		nodes []*onnxpb.NodeProto
		want  []float64
	}{
		{"backwards", slice(-1, -6, -1), []float64{4, 3, 2, 1, 0}},
		{"every other, backwards", slice(9, -9, -2), []float64{4, 2, 0}},
		{"reflect", pad("reflect", 3, 4), []float64{3, 2, 1, 0, 1, 2, 3, 4, 3, 2, 1, 0}},
		{"edge", pad("edge", 2, 1), []float64{0, 0, 0, 1, 2, 3, 4, 4}},
		{"wrap", pad("wrap", 2, 3), []float64{3, 4, 0, 1, 2, 3, 4, 0, 1, 2}},
		{"wrap around twice", pad("wrap", 7, 0), []float64{3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}},
		{"reflect what is left", pad("reflect", -1, 2), []float64{1, 2, 3, 4, 3, 2}},
		{"a list", nodes{ints("i", 4, -5, 4), op("Gather", "x i", "y", intAttr("axis", 1))}, []float64{4, 0, 4}},
		{"elements", nodes{ints("i", 4, 0, 0), ints("s", 1, 3), op("Reshape", "i s", "j"),
			op("GatherElements", "x j", "y", intAttr("axis", 1))}, []float64{4, 0, 0}},
		{"tuples", nodes{ints("i", 0, 3, 0, 1), ints("s", 2, 2), op("Reshape", "i s", "j"),
			op("GatherND", "x j", "y")}, []float64{3, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := evalCounting(t, modelOf(19, 1, []int64{5}, nil, c.nodes...)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestManyPlaces picks more elements than one node can list.
func TestManyPlaces(t *testing.T) {
	backwards := nodes{ints("b", -1), ints("e", -1<<40), ints("a", 1), ints("s", -1),
		op("Slice", "x b e a s", "y")}
	got := evalCounting(t, modelOf(13, 0, []int64{10000}, nil, backwards...))
	for i, v := range got {
		if v != float64(9999-i) || len(got) != 10000 {
			t.Fatalf("element %d of %d is %g", i, len(got), v)
		}
	}
	got = evalCounting(t, modelOf(13, 0, []int64{5}, nil, ints("k", 1, 3000), op("Tile", "x k", "y")))
	for i, v := range got {
		if v != float64(i%5) || len(got) != 15000 {
			t.Fatalf("element %d of %d is %g", i, len(got), v)
		}
	}
}

// TestNoPlaces: picking an index that does not exist is refused by a sentence.
func TestNoPlaces(t *testing.T) {
	pad := func(mode string, p ...int64) []*onnxpb.NodeProto {
		return nodes{ints("p", p...), op("Pad", "x p", "y", textAttr("mode", mode))}
	}
	for _, c := range []struct {
		name  string
		nodes []*onnxpb.NodeProto
		want  string
	}{
		{"mirrored beyond", pad("reflect", 0, 5, 0, 0), "5 and 0 elements at the ends of an axis of 5"},
		{"mirrored after a cut", pad("reflect", 0, -3, 0, 2), "0 and 2 elements at the ends of an axis of 2"},
		{"huge", pad("edge", 0, 1<<30, 0, 0), "to an axis of 1073741829, of at most 1048576 is supported"},
		{"another mode", pad("mirror", 0, 1, 0, 0), `mode is "mirror"`},
		{"cut to nothing", pad("constant", 0, -5, 0, 0), "slice [5, 5) of an axis of 5"},
		{"gathered out of range", nodes{ints("i", 5), op("Gather", "x i", "y", intAttr("axis", 1))},
			"index 5 of an axis of 5"},
		{"gathered by what is computed", nodes{ints("k", 2), op("TopK", "x k", "v i"),
			op("Gather", "x i", "y", intAttr("axis", 1))}, "takes what places say that come from the input"},
		{"more than there are", nodes{ints("k", 6), op("TopK", "x k", "y i")}, "only of 1 to 5"},
		{"an empty list", nodes{ints("i"), op("Gather", "x i", "y", intAttr("axis", 1))}, "of no place of axis"},
		{"tiled hugely", nodes{ints("k", 1, 1<<40), op("Tile", "x k", "y")}, "at most 1048576 elements of an axis"},
		{"a slice of nothing", nodes{ints("b", 3), ints("e", 3), ints("a", 1), op("Slice", "x b e a", "y")},
			"slice [3, 3) of an axis of 5: want one element of it at least"},
		{"a slice of nothing, backwards", nodes{ints("b", 1), ints("e", 3), ints("a", 1), ints("s", -1),
			op("Slice", "x b e a s", "y")}, "of no place"},
		{"elements of other rows", nodes{ints("i", 4), ints("s", 1, 1), op("Reshape", "i s", "j"),
			op("GatherElements", "x j", "y", intAttr("axis", 1))},
			"picks elements of every row by constants of its own"},
	} {
		got := became(readModel(t, modelOf(19, 0, []int64{5}, nil, c.nodes...)))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestOutputShape: a transposed convolution with a result longer than the reach of its
// windows ends with zeros.
func TestOutputShape(t *testing.T) {
	m := modelOf(13, 0, []int64{1, 5}, nil, op("ConvTranspose", "x w", "y", list64("strides", 2),
		list64("output_shape", 12)))
	m.Graph.Initializer = append(m.Graph.Initializer, &onnxpb.TensorProto{Name: "w",
		DataType: int32(onnxpb.TensorProto_FLOAT), Dims: []int64{1, 1, 3}, FloatData: []float32{1, 1, 1}})
	want := []float64{0, 0, 1, 1, 3, 2, 5, 3, 7, 4, 4, 0}
	if got := evalCounting(t, m); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestWrapHasASet: before operator set 19 the standard has no mode wrap, and ONNX Runtime returns other
// numbers.
func TestWrapHasASet(t *testing.T) {
	got := became(readModel(t, modelOf(18, 0, []int64{5}, nil, ints("p", 0, 2, 0, 3),
		op("Pad", "x p", "y", textAttr("mode", "wrap")))))
	if want := `mode is "wrap" in operator set 18, and comes in 19`; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPadOfNothing: if negative pads remove all elements of an axis, no element is left to
// repeat at its ends.
func TestPadOfNothing(t *testing.T) {
	for _, mode := range []string{"wrap", "edge", "reflect"} {
		got := became(readModel(t, modelOf(19, 0, []int64{2}, nil, ints("p", 0, -2, 0, 1),
			op("Pad", "x p", "y", textAttr("mode", mode)))))
		if want := "of mode " + mode + " of an axis of no element"; !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestLongInput: a length that no axis may have does not count as open.
func TestLongInput(t *testing.T) {
	m := modelOf(17, 0, []int64{2, 1 << 31}, nil, op("Relu", "x", "y"))
	if got, want := became(readModel(t, m)), "a length of 2147483648, want at most 1073741824"; !strings.Contains(got,
		want) {
		t.Errorf("%s, want %s", got, want)
	}
}
