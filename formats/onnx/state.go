package onnx

import (
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// state adds operand i, a constant, to the tensors that the model stores, and returns the
// graph's value that reads it. The shape may differ from the constant's if it has the same
// number of elements.
func (c *call) state(i int, role graph.Role, shape ...int) graph.Value {
	t, ok := c.Constant(i)
	if !ok {
		c.Fail("operand %d is absent", i)
		return graph.None
	}
	if !c.checkDequantised(i, t) {
		return graph.None
	}
	if c.isLifted(i) && t.Count() == tensor.Count(shape) {
		return c.inShape(c.lift(c.Proto.Input[i], role), shape)
	}
	if t = c.ToF32(t); c.Err == nil && t.Count() != tensor.Count(shape) {
		c.Fail("operand %d is %v, want %s", i, t, tensor.Describe(tensor.F32, shape))
	}
	if c.Err != nil {
		return graph.None
	}
	return c.declare(c.Proto.Input[i], role, t.Reshape(shape...))
}

// checkDequantised refuses a weight of bytes in a layer of floats: its scale is missing.
func (c *call) checkDequantised(i int, t tensor.Tensor) bool {
	_, isByte := shift[t.DType]
	if isByte {
		c.Fail("operand %d is %v without a DequantizeLinear; give it one, with the scale of these integers", i,
			t.DType)
	}
	return !isByte
}

// declare adds a tensor to those that the model stores. moves turn it into the constant with the
// given name in the file. Changing its shape needs no move.
func (c *call) declare(name string, role graph.Role, t tensor.Tensor, moves ...models.Move) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	form := c.formOf(name, t, moves)
	label := c.label(form.name)
	if have, ok := c.reader.state[label]; ok && !sameTensor(have, t) {
		if v, ok := c.tied(label, form, t); ok {
			return v
		}
		label = c.takenLabels.Free(label) // the label is used for another form of the constant
	}
	if role == graph.Constant {
		role = c.roleInState(label)
	} else if c.isBuffer(form.name, role) {
		role = graph.Constant
	} else {
		c.trains(label, role)
	}
	s := graph.State{Name: label, DType: t.DType, Shape: t.Shape, Role: role}
	if t.DType == tensor.F32 {
		s.Init = initOf(role)
	}
	c.reader.state[label], c.forms[label] = t, form
	return c.g.Declare(s)
}

// initOf returns the initialisation of a new tensor with a role.
func initOf(role graph.Role) graph.Init {
	rule := map[graph.Role]string{graph.Weight: "he_normal", graph.Bias: "zeros", graph.Gamma: "ones",
		graph.Beta: "zeros", graph.Mean: "zeros", graph.Variance: "ones"}[role]
	if rule == "he_normal" {
		return graph.Init{Rule: rule, Args: []float64{0}}
	}
	return graph.Init{Rule: rule}
}

// sameTensor reports whether a and b are equal. It does not compare tensors that share their memory.
func sameTensor(a, b tensor.Tensor) bool {
	if !slices.Equal(a.Shape, b.Shape) {
		return false
	}
	return unsafe.SliceData(a.Bytes) == unsafe.SliceData(b.Bytes) || tensor.Equal(a, b)
}

func scaleConstant(c *call, t tensor.Tensor, factor float32) tensor.Tensor {
	if factor == 1 || !c.Reserve(tensor.F32, t.Shape) {
		return t
	}
	out := t.Clone()
	for i := range out.F32() {
		out.F32()[i] *= factor
	}
	return out
}
