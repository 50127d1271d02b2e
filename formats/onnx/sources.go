package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
)

// A constant that is computed only from buffers is a buffer too. PyTorch does not train it, even if a
// layer uses it as a weight.

// source is the kind of the float initializers that a constant is computed from.
type source uint8

const (
	fromNumbers source = iota // no initializer
	fromBuffers               // only buffers
	fromOthers
)

// sourceOf returns the source of a constant.
func (r *reader) sourceOf(name string) source {
	switch {
	case !r.initial[name]:
		return r.sources[name]
	case isBufferName(name), r.fromTorch && isParameterName(name) && !r.hasFloats(name): // PyTorch trains floats
		return fromBuffers
	case !r.hasFloats(name):
		return fromNumbers
	}
	return fromOthers
}

// hasFloats reports whether a constant has elements of floats.
func (r *reader) hasFloats(name string) bool {
	if numbered, ok := r.homes[name]; ok {
		name = numbered
	}
	x := r.values[name]
	if x.File != nil {
		return element.IsFloat(x.File.DType)
	}
	return element.IsFloat(x.Tensor.DType)
}

// keepSource stores the source of the constants that a node computes.
func (c *call) keepSource(out []node.Value) {
	s := fromNumbers
	for i := range c.Proto.Input {
		if c.Has(i) && c.In[i].IsConstant() {
			s = max(s, c.sourceOf(c.Proto.Input[i]))
		}
	}
	for k, name := range c.Proto.Output {
		if k < len(out) && out[k].IsConstant() && name != "" {
			c.sources[name] = s
		}
	}
}
