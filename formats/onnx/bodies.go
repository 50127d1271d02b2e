package onnx

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// bodyTensors lists the weights in the branches of If and the bodies of loops as tensors of the file: their
// initializers, and Constants of floats with at least one axis. A name that the file has already is
// qualified by the node and the attribute.
func (r *reader) bodyTensors(nodes []*onnxpb.NodeProto, listed map[string]bool) error {
	for _, n := range nodes {
		for _, a := range n.Attribute {
			if a.G == nil {
				continue
			}
			within := decode.First(n.Output, n.Name) + "." + a.Name + "."
			if err := r.bodyWeights(a.G, within, listed); err != nil {
				return fmt.Errorf("%s: %w", strings.TrimSuffix(within, "."), err)
			}
			if err := r.bodyTensors(a.G.Node, listed); err != nil {
				return err
			}
		}
	}
	return nil
}

// bodyWeights lists the weights of one body.
func (r *reader) bodyWeights(g *onnxpb.GraphProto, prefix string, listed map[string]bool) error {
	for _, p := range g.Initializer {
		t, err := r.decoder.Peek(p, r.external)
		if err != nil {
			return fmt.Errorf("tensor %.80q: %w", p.Name, err)
		}
		r.listBodyTensor(t, prefix, listed)
	}
	for _, n := range g.Node {
		if decode.Operator(n) != "Constant" || len(n.Output) != 1 {
			continue
		}
		for _, a := range n.Attribute {
			if a.Name != "value" || a.T == nil || a.T.DataType == int32(onnxpb.TensorProto_STRING) {
				continue
			}
			t, err := r.decoder.Peek(a.T, r.external)
			if err != nil {
				return err
			}
			if t.Name = n.Output[0]; isWeight(&t) {
				r.listBodyTensor(t, prefix, listed)
			}
		}
	}
	return nil
}

// listBodyTensor adds a tensor of a body under a name that the file does not have yet.
func (r *reader) listBodyTensor(t foreign.Tensor, prefix string, listed map[string]bool) {
	if listed[t.Name] {
		t.Name = prefix + t.Name
	}
	if !listed[t.Name] {
		listed[t.Name] = true
		r.file.Tensors = append(r.file.Tensors, t)
	}
}
