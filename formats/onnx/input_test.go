package onnx

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestOpenInput gives a size to inputs that leave lengths open; 0 is open.
func TestOpenInput(t *testing.T) {
	for _, c := range []struct {
		file, given, want []int
		err               string
	}{
		{[]int{4, 0, 0}, []int{4, 6, 5}, []int{4, 6, 5}, ""},
		{[]int{0, 0, 0}, []int{4, 6, 5}, []int{4, 6, 5}, ""},
		{[]int{4, 6, 5}, []int{4, 6, 5}, []int{4, 6, 5}, ""},
		{[]int{0, 0, 3}, []int{3, 6, 5}, []int{6, 5, 3}, ""}, // channels last, as TensorFlow's are
		{[]int{0}, []int{7}, []int{7}, ""},
		{nil, []int{4, 6, 5}, []int{4, 6, 5}, ""},
		{[]int{4, 0, 0}, nil, nil, `input "x": its size [4,?,?] is open; say it with input 4,224,224`},
		{[]int{4, -1, 0}, nil, nil, "its size [4,?,?] is open"},
		{[]int{0, 0, 3}, nil, nil, "input 3,224,224"},
		{nil, nil, nil, "its shape is not in the file; say it with input C,H,W"},
		{[]int{4, 0, 0}, []int{3, 6, 5}, nil, "its size is [4,?,?], which input 3,6,5 does not fit"},
		{[]int{4, 0, 0}, []int{6, 5}, nil, "does not fit"},
	} {
		b := resized(t, c.file)
		f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{Input: c.given})
		if err != nil {
			t.Fatal(err)
		}
		if c.err != "" {
			if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.err) {
				t.Errorf("%v with %v: got error %v, want %q", c.file, c.given, f.NoModel, c.err)
			}
			continue
		}
		if f.NoModel != nil {
			t.Errorf("%v with %v: %v", c.file, c.given, f.NoModel)
		} else if got := f.Model.Input().Shape; !slices.Equal(got, c.want) {
			t.Errorf("%v with %v: input %v, want %v", c.file, c.given, got, c.want)
		}
	}
}

// resized returns a model of one operator with an input of the given lengths. If lengths is
// nil, the input has no shape.
func resized(t *testing.T, lengths []int) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/cases/abs.onnx")
	if err != nil {
		t.Fatal(err)
	}
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	in := m.Graph.Input[0].Type.TensorType
	in.Shape = nil
	if lengths != nil {
		in.Shape = &onnxpb.TensorShapeProto{Dim: []*onnxpb.TensorShapeProto_Dimension{{}}}
	}
	for _, n := range lengths {
		in.Shape.Dim = append(in.Shape.Dim, &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(int64(n))})
	}
	b, err = proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestExampleOfASize checks the example of a size in the advice. An open length becomes
// 224. Three lengths begin with the channels, and an open number of channels becomes 3.
// However, if the last of three lengths is at most 4, it is the number of channels, and
// moves to the front.
func TestExampleOfASize(t *testing.T) {
	for _, c := range []struct {
		open []int
		want string
	}{
		{[]int{0}, "224"}, {[]int{0, 7}, "224,7"}, {[]int{0, 0, 0}, "3,224,224"}, {[]int{0, 32, 32}, "3,32,32"},
		{[]int{1, 0, 0}, "1,224,224"}, {[]int{0, 0, 5}, "3,224,5"}, {[]int{0, 8, 4}, "4,224,8"},
		{[]int{0, 0, 1}, "1,224,224"}, {[]int{0, 0, 0, 3}, "224,224,224,3"},
	} {
		if got := example(c.open); got != c.want {
			t.Errorf("%v: %s, want %s", c.open, got, c.want)
		}
	}
	named := []*onnxpb.TensorShapeProto_Dimension{{}, {DimParam: proto.String("height")},
		{DimParam: proto.String("w")}}
	if got, want := described(named, []int{3, 0, 0}), `[3,"height","w"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
