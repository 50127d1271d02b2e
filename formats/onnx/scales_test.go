package onnx

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// scaledConv returns a convolution of bytes in QDQ form, with a weight, a bias and a
// result. The nodes in the argument with replace the usual nodes that have the same result.
func scaledConv(with ...*onnxpb.NodeProto) *onnxpb.ModelProto {
	list := nodes{floats("ws", []int64{2}, 0.5, 0.25), wholes("wz", i8, []int64{2}, 0, 0),
		wholes("w", i8, []int64{2, 1, 1, 2}, 1, 1, 3, 0), op("DequantizeLinear", "w ws wz", "wf", intAttr("axis", 0)),
		wholes("b", i32, []int64{2}, 4, -8), floats("bs", []int64{2}, 0.25, 0.125),
		op("DequantizeLinear", "b bs", "bf", intAttr("axis", 0)), op("DequantizeLinear", "q s z", "a"),
		op("Conv", "a wf bf", "f"), op("QuantizeLinear", "f ys yz", "r")}
	for _, n := range with {
		i := slices.IndexFunc(list, func(m *onnxpb.NodeProto) bool { return m.Output[0] == n.Output[0] })
		if i < 0 {
			list = append(nodes{n}, list...)
			continue
		}
		list[i] = n
	}
	return modelOf(13, 0, []int64{1, 2, 3}, nil, ofIntegers(u8, 3, 1, 10, list...)...)
}

// TestBadScales: a file with unusable scales or zero points is refused with a sentence that names the node.
func TestBadScales(t *testing.T) {
	twoOpsets := scaledConv()
	twoOpsets.OpsetImport = append(twoOpsets.OpsetImport,
		&onnxpb.OperatorSetIdProto{Domain: "ai.onnx", Version: 11})
	axis := op("DequantizeLinear", "w ws wz", "wf", intAttr("axis", 7))
	for _, c := range []struct {
		name string
		m    *onnxpb.ModelProto
		want []string
	}{
		{"a scale that is computed", scaledConv(op("DequantizeLinear", "q x z", "a")),
			[]string{"DequantizeLinear", "constant"}},
		{"a negative scale of a weight", scaledConv(floats("ws", []int64{2}, 0.5, -0.25)),
			[]string{"DequantizeLinear", "with a scale of -0.25; scale 1 must be a positive number"}},
		{"a scale of a weight that is NaN", scaledConv(floats("ws", []int64{2}, 0.5, float32(math.NaN()))),
			[]string{"DequantizeLinear", "with a scale of NaN; scale 1 must be"}},
		{"a scale of 0", modelOf(13, 0, []int64{3}, nil, ofIntegers(u8, 3, 0, 10, op("Identity", "q", "r"))...),
			[]string{"DequantizeLinear", "with a scale of 0; a positive number"}},
		{"two versions of the operators", twoOpsets, []string{"it imports opsets 13 and 11 of the standard operators"}},
		{"zero points of another type", scaledConv(wholes("wz", u8, []int64{2}, 0, 0)),
			[]string{"DequantizeLinear", "of i8 with a zero point of u8"}},
		{"an axis out of range", scaledConv(axis), []string{"DequantizeLinear", "axis 7"}},
		{"a negative axis out of range", scaledConv(op("DequantizeLinear", "w ws wz", "wf", intAttr("axis", -5))),
			[]string{"DequantizeLinear", "axis -5 of a tensor of rank 4"}},
		{"a weight without a DequantizeLinear", scaledConv(wholes("wf", i8, []int64{2, 1, 1, 2}, 1, 1, 3, 0)),
			[]string{"(Conv f): operand 1 is i8 without a DequantizeLinear"}},
		{"a bias of another length", scaledConv(floats("bf", []int64{3}, 1, 2, 3)), []string{"(Conv f): operand 2 is f32[3]"}},
		{"too many scales", scaledConv(floats("ws", []int64{3}, 0.5, 0.25, 1), wholes("wz", i8, []int64{3}, 0, 0, 0)),
			[]string{"DequantizeLinear", "3 scales for an axis of 2"}},
	} {
		err := readError(t, c.m)
		if err == nil {
			t.Errorf("%s: it was read", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.name, err, want)
			}
		}
	}
}

// TestScalesThatAreFound: a scale of 0 is a fault. A bias with a scale other than that of
// its products is a warning. Both findings name the node. A file without such scales has no
// findings.
func TestScalesThatAreFound(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *onnxpb.ModelProto
		want string
	}{
		{"nothing", scaledConv(), "[]"},
		{"a scale of 0", scaledConv(floats("ws", []int64{2}, 0.5, 0)),
			"fault: wf: scale 1 of this DequantizeLinear is 0, want a positive number"},
		{"a zero point of another type", scaledConv(wholes("wz", u8, []int64{2}, 0, 0)),
			"fault: wf: the zero point of this DequantizeLinear is u8, and its integers are i8"},
		{"a zero point of a map of another type", scaledConv(op("DequantizeLinear", "q s nz", "a"), wholes("nz", i8, nil, 0)),
			"fault: a: the zero point of this DequantizeLinear is i8, and its integers are u8"},
		{"a weight that the file quantises", scaledConv(op("QuantizeLinear", "wx ws wz", "w", intAttr("axis", 0)),
			floats("wx", []int64{2, 1, 1, 2}, 1, 1, 3, 0)), "[]"},
		{"a zero point of a bias", scaledConv(wholes("bz", i32, []int64{2}, 0, 5),
			op("DequantizeLinear", "b bs bz", "bf", intAttr("axis", 0))),
			"fault: bf: zero point 1 of this DequantizeLinear is 5, and i32 has zero points of 0 alone"},
		{"a bias in other steps", scaledConv(floats("bs", []int64{2}, 0.25, 0.5)),
			"warning: f: the scale of its bias is 0.5 for channel 1, and the product of the scales of input and weight " +
				"is 0.125: the bias is rounded again"},
	} {
		var got []string
		for _, f := range readModel(t, c.m).Findings {
			for kind, is := range map[string]bool{"fault": f.Fault, "warning": f.Warning} {
				if is {
					got = append(got, fmt.Sprintf("%s: %s: %s", kind, f.Where, f.Text))
				}
			}
		}
		if fmt.Sprint(got) != c.want && !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestOtherQuantisation: forms of quantisation that are not supported are refused by name, with the node.
func TestOtherQuantisation(t *testing.T) {
	const float8, int4 = onnxpb.TensorProto_FLOAT8E4M3FN, onnxpb.TensorProto_INT4
	blocks := op("DequantizeLinear", "w ws wz", "wf", intAttr("axis", 0), intAttr("block_size", 2))
	for _, c := range []struct {
		name string
		m    *onnxpb.ModelProto
		want []string
	}{
		{"weights in blocks", scaledConv(blocks), []string{"DequantizeLinear", "wf", "block_size"}},
		{"maps in blocks", modelOf(21, 0, []int64{4}, nil, floats("s", []int64{2}, 1, 1), wholes("z", u8, []int64{2}, 0, 0),
			op("QuantizeLinear", "x s z", "q", intAttr("block_size", 2)), op("DequantizeLinear", "q s z", "y",
				intAttr("block_size", 2))), []string{"QuantizeLinear", "q", "block_size"}},
		{"weights of int4", scaledConv(wholes("w", int4, []int64{2, 1, 1, 2}, 1, 1)), []string{"w", "INT4"}},
		{"weights of float8", scaledConv(wholes("w", float8, []int64{2, 1, 1, 2}, 1, 1, 3, 0)),
			[]string{"w", "FLOAT8E4M3FN"}},
		{"maps of float8", modelOf(19, 0, []int64{4}, nil, floats("s", nil, 1), wholes("z", float8, nil, 0),
			op("QuantizeLinear", "x s z", "q"), op("DequantizeLinear", "q s z", "y")), []string{"z", "FLOAT8E4M3FN"}},
		{"maps of float8, without a zero point", modelOf(21, 0, []int64{4}, nil, floats("s", nil, 1),
			op("QuantizeLinear", "x s", "q", intAttr("output_dtype", int(float8))), op("DequantizeLinear", "q s", "y")),
			[]string{"QuantizeLinear", "q", "FLOAT8E4M3FN"}},
		{"maps of int4", modelOf(21, 0, []int64{4}, nil, floats("s", nil, 1),
			op("QuantizeLinear", "x s", "q", intAttr("output_dtype", int(int4))), op("DequantizeLinear", "q s", "y")),
			[]string{"QuantizeLinear", "q", "INT4"}},
	} {
		err := readError(t, c.m)
		if err == nil {
			t.Errorf("%s: it was read", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.name, err, want)
			}
		}
	}
}

// readError returns the error of reading a file or its graph.
func readError(t *testing.T, m *onnxpb.ModelProto) error {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
	if err == nil {
		err = f.NoModel
	}
	return err
}
