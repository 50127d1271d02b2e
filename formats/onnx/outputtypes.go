package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// pick is an output of the file that is the index of the largest score.
type pick struct {
	output   *onnxpb.ValueInfoProto
	x        node.Value // the scores
	position int        // the output's index in the file
}

// hasType records the type that an output has in the file. The graph computes it in f32.
func (r *reader) hasType(name string, o *onnxpb.ValueInfoProto, x node.Value) {
	d := x.DType()
	if x.HoldsIntegers() {
		d = declaredInteger(o, x)
	}
	if element.IsFloat(d) {
		d = tensor.F32
	}
	r.types = append(r.types, models.FileType{Output: name, DType: d})
}

// fileTypeOf returns the type of an output of the file that is the index of the largest score. The
// graph's output has the scores.
func fileTypeOf(name, scores string, p pick) models.FileType {
	d, err := onnxpb.DType(p.output.GetType().GetTensorType().GetElemType())
	if err != nil {
		d = tensor.I64
	} else if element.IsFloat(d) {
		d = tensor.F32
	}
	shape := p.x.Picked
	if dims := p.output.GetType().GetTensorType().GetShape().GetDim(); len(dims) > 0 {
		declared := lengthsOf(dims[1:])
		if tensor.Count(declared) == tensor.Count(shape) && !slices.Contains(declared, 0) {
			shape = declared // nodes after the ArgMax may have moved its axes
		}
	}
	return models.FileType{Output: name, DType: d, Picks: scores, Shape: shape}
}

// declaredInteger returns the integer type that the file declares for an output, or i64 by default.
func declaredInteger(o *onnxpb.ValueInfoProto, x node.Value) tensor.DType {
	d, err := onnxpb.DType(o.GetType().GetTensorType().GetElemType())
	switch {
	case err == nil && !element.IsFloat(d):
		return d
	case x.Kind != 0:
		return x.Kind
	}
	return tensor.I64
}
