package onnx

import (
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// state adds operand i, a constant, to the model's state and returns the value
// that reads it. The shape may only be another one of as many elements.
func (c *call) state(i int, role graph.Role, shape ...int) graph.Value {
	t, ok := c.Constant(i)
	if !ok {
		c.Fail("operand %d is absent", i)
		return graph.None
	}
	if t = c.ToF32(t); c.Err == nil && t.Count() != tensor.Count(shape) {
		c.Fail("operand %d is %v, want %s", i, t, tensor.Describe(tensor.F32, shape))
	}
	if c.Err != nil {
		return graph.None
	}
	return c.declare(c.Proto.Input[i], role, t.Reshape(shape...))
}

// declare adds a tensor to the model's state under a name of ONNX.
func (c *call) declare(name string, role graph.Role, t tensor.Tensor) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	name = c.originOf(name).name
	label, ok := c.labels[name]
	if !ok {
		label = c.takenLabels.Free(foreign.Clean(name, "tensor"))
		c.labels[name] = label
	}
	if have, ok := c.reader.state[label]; ok && !sameTensor(have, t) {
		label = c.takenLabels.Free(label) // used in two ways: as it is and transposed, say
	}
	s := graph.State{Name: label, DType: t.DType, Shape: t.Shape, Role: role}
	if t.DType == tensor.F32 {
		s.Init = initOf(role)
	}
	c.reader.state[label] = t
	return c.g.Declare(s)
}

// origin is the tensor of the file that a constant was, before it got another shape.
type origin struct {
	name  string
	shape []int
}

// originOf returns the tensor of the file that a constant is in another shape: a layer's weight that the
// exporter gave axes of 1, which state_dict calls by its own name.
func (r *reader) originOf(name string) origin {
	if o, ok := r.origins[name]; ok {
		return o
	}
	return origin{name, r.values[name].Tensor.Shape}
}

// keepOrigin notes what a constant was, where the node has but given it another shape.
func (c *call) keepOrigin(op string) {
	if len(c.Proto.Output) > 0 && len(c.In) > 0 && c.In[0].IsConstant() && table[op].traits.has(onlyReshapes) {
		c.origins[c.Proto.Output[0]] = c.originOf(c.Proto.Input[0])
	}
}

// initOf says how a new tensor of a role is filled.
func initOf(role graph.Role) graph.Init {
	rule := map[graph.Role]string{graph.Weight: "he_normal", graph.Bias: "zeros", graph.Gamma: "ones",
		graph.Beta: "zeros", graph.Mean: "zeros", graph.Variance: "ones"}[role]
	if rule == "he_normal" {
		return graph.Init{Rule: rule, Args: []float64{0}}
	}
	return graph.Init{Rule: rule}
}

// sameTensor reports whether a and b are equal; those that share their memory are at once.
func sameTensor(a, b tensor.Tensor) bool {
	if !slices.Equal(a.Shape, b.Shape) {
		return false
	}
	return unsafe.SliceData(a.Bytes) == unsafe.SliceData(b.Bytes) || tensor.Equal(a, b)
}

func scaleConstant(c *call, t tensor.Tensor, by float32) tensor.Tensor {
	if by == 1 || !c.Reserve(tensor.F32, t.Shape) {
		return t
	}
	out := t.Clone()
	for i := range out.F32() {
		out.F32()[i] *= by
	}
	return out
}
