package onnx

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestArgMax checks that an ArgMax that picks a class for an output is left out of the
// graph: the output then has the scores, with their known properties. Any other ArgMax
// returns indices.
func TestArgMax(t *testing.T) {
	node := func(op, in, out string) *onnxpb.NodeProto {
		n := &onnxpb.NodeProto{OpType: op, Input: []string{in}, Output: []string{out}}
		if op == "ArgMax" {
			n.Attribute = []*onnxpb.AttributeProto{intAttr("axis", 1), intAttr("keepdims", 0)}
		}
		return n
	}
	for _, c := range []struct {
		nodes   []*onnxpb.NodeProto
		outputs []string
		want    string // the outputs of the graph, or the error
	}{
		{[]*onnxpb.NodeProto{node("ArgMax", "y", "class")}, []string{"class"}, " scores logits"},
		{[]*onnxpb.NodeProto{node("ArgMax", "y", "class")}, []string{"y", "class"}, " y logits"},
		{[]*onnxpb.NodeProto{node("ArgMax", "y", "a"), node("Identity", "a", "b")}, []string{"b", "a"},
			" scores logits"},
		{[]*onnxpb.NodeProto{node("ArgMax", "y", "a"), node("Relu", "a", "b")}, []string{"b"},
			"compute with floats in the file, or end it before this node"},
	} {
		b, err := os.ReadFile("testdata/cases/bare-reshape.onnx")
		if err != nil {
			t.Fatal(err)
		}
		m := &onnxpb.ModelProto{}
		if err := proto.Unmarshal(b, m); err != nil {
			t.Fatal(err)
		}
		// The model is a classifier with an open batch: a global pool, a flatten and a softmax.
		m.Graph.Input[0].Type.TensorType.Shape.Dim[0] = &onnxpb.TensorShapeProto_Dimension{}
		m.Graph.Node = append([]*onnxpb.NodeProto{node("GlobalAveragePool", "x", "g"), node("Flatten", "g", "r"),
			node("Softmax", "r", "y")}, c.nodes...)
		m.Graph.Output = nil
		for _, name := range c.outputs {
			m.Graph.Output = append(m.Graph.Output, &onnxpb.ValueInfoProto{Name: name})
		}
		if b, err = proto.Marshal(m); err != nil {
			t.Fatal(err)
		}
		f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if f.NoModel != nil {
			got = f.NoModel.Error()
		} else {
			for _, o := range f.Model.Graph.Main.Outputs {
				got += " " + o.Name
			}
			if len(f.Findings) == 0 || !strings.Contains(f.Findings[0].Text, "ArgMax") {
				t.Errorf("%v: findings %v", c.outputs, f.Findings)
			}
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%v: got %s, want %s", c.outputs, got, c.want)
		}
	}
}
