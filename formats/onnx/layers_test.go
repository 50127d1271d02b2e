package onnx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// quantisedLayers returns the layers of a quantised file, one in a line.
func quantisedLayers(t *testing.T, m *onnxpb.ModelProto) (list []string) {
	t.Helper()
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	for _, l := range f.Quantised {
		if l.Bytes != (l.Reason == "") {
			t.Errorf("%s: bytes is %v with the reason %q", l.Name, l.Bytes, l.Reason)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", l.Name, l.Op, l.Reason)))
	}
	return list
}

// TestQuantisedLayers: the list of layers has the operators of the file, and a reason for
// each layer in floats.
func TestQuantisedLayers(t *testing.T) {
	row := func(opset int64, list ...*onnxpb.NodeProto) *onnxpb.ModelProto {
		return modelOf(opset, 0, []int64{6}, nil, ofIntegers(u8, 3, 1, 10, list...)...)
	}
	a, q := op("DequantizeLinear", "q s z", "a"), op("QuantizeLinear", "f ys yz", "r")
	wide := make([]int32, 12)
	wide[7] = 255
	for _, c := range []struct {
		name string
		m    *onnxpb.ModelProto
		want []string
	}{
		{"all in bytes", scaledConv(), []string{"f Conv"}},
		{"a weight of floats", scaledConv(floats("wf", []int64{2, 1, 1, 2}, 1, 1, 3, 0)),
			[]string{"f Conv its weight is not integers with constant scales"}},
		{"a weight far from its zero point", scaledConv(wholes("w", u8, []int64{2, 1, 1, 2}, 1, 1, 255, 0),
			wholes("wz", u8, []int64{2}, 0, 3)), []string{"f Conv"}},
		{"a softmax", row(13, a, op("Softmax", "a", "f", intAttr("axis", 1)), q),
			[]string{"f Softmax there is no operator of integers for it"}},
		{"an island of floats", row(13, a, op("Exp", "a", "e"), op("Relu", "e", "f"), q),
			[]string{"e Exp there is no operator of integers for it", "f Relu its input is not quantised"}},
		{"no pair after it", row(13, a, op("Sigmoid", "a", "e"), op("Exp", "e", "f"), q),
			[]string{"e Sigmoid no QuantizeLinear with one constant scale follows it alone",
				"f Exp there is no operator of integers for it"}},
		{"a sum with a constant", row(13, a, floats("k", []int64{6}, 1, 2, 3, 4, 5, 6), op("Add", "a k", "f"), q),
			[]string{"f Add no operator of integers has its operands and attributes"}},
		{"a sum with floats", row(13, a, op("Exp", "a", "e"), op("Add", "a e", "f"), q),
			[]string{"e Exp there is no operator of integers for it", "f Add one of its operands is not quantised"}},
		{"a scale for each element", row(13, floats("ms", []int64{6}, 1, 2, 3, 4, 5, 6), wholes("mz", u8, []int64{6}, 0, 0, 0, 0,
			0, 0), op("DequantizeLinear", "q ms mz", "a"), op("Sigmoid", "a", "f"), q),
			[]string{"f Sigmoid its input is not bytes with one constant scale"}},
		{"two scales and converted bytes", row(13, op("Cast", "q", "c", intAttr("to", int(u8))),
			op("Cast", "c", "d", intAttr("to", int(u8))), op("DequantizeLinear", "d s z", "a"), q, op("Identity", "a", "f")),
			[]string{"r QuantizeLinear"}},
		{"two shapes", modelOf(13, 0, []int64{1, 2, 3}, nil, ofIntegers(u8, 3, 1, 10, a, op("DequantizeLinear", "q s z", "b"),
			op("ReduceMean", "b", "c", list64("axes", 3)), op("QuantizeLinear", "c s z", "d"),
			op("DequantizeLinear", "d s z", "e"), op("Add", "a e", "f"), q)...),
			[]string{"c ReduceMean no operation of bytes has its shapes, scales and attributes", "f Add the shapes of its operands differ"}},
		{"operators of integers", row(13, wholes("w", u8, []int64{6, 2}, wide...), floats("ws", nil, 1), wholes("wz", u8, nil, 0),
			op("QLinearMatMul", "q s z w ws wz ys yz", "r")),
			[]string{"r QLinearMatMul"}},
		{"moves are left out", row(13, a, op("Identity", "a", "i"), op("Relu", "i", "f"), q), []string{"f Relu"}},
		{"no quantised file", modelOf(13, 0, []int64{6}, nil, op("Relu", "x", "y")), nil},
	} {
		if got := quantisedLayers(t, c.m); !slices.Equal(got, c.want) {
			t.Errorf("%s: layers are %q, want %q", c.name, got, c.want)
		}
	}
}

// TestQuantisedCounter: the counter "integers" lists the layers that are computed in
// floats.
func TestQuantisedCounter(t *testing.T) {
	f := readModel(t, scaledConv(floats("wf", []int64{2, 1, 1, 2}, 1, 1, 3, 0)))
	for _, c := range f.Counters {
		if c.Name == "integers" {
			const want = "0 layers in bytes; 1 in floats: f (Conv: its weight is not integers with constant scales)"
			if c.Value != want {
				t.Errorf("it is %q, want %q", c.Value, want)
			}
			return
		}
	}
	t.Errorf("counters are %v", f.Counters)
}
