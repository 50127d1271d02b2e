package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		"Add": {attributes: accept(2, legacyBroadcast, "consumed_inputs"), make: oneResult(binary), fold: fold.Add,
			batch: batchaxis.Aligned, integers: computeWhole, grows: growPair(growAdd),
			traits: onWeights | preparesInput | alignsBatch},
		"Sub": {attributes: accept(2, legacyBroadcast, "consumed_inputs"), make: oneResult(binary), fold: fold.Sub,
			batch: batchaxis.Aligned, integers: computeWhole, grows: growPair(growSub),
			traits: onWeights | preparesInput | alignsBatch},
		"Mul": {attributes: accept(2, legacyBroadcast, "consumed_inputs"), make: oneResult(binary), fold: fold.Mul,
			batch: batchaxis.Aligned, integers: computeWhole, grows: growPair(growMul),
			traits: onWeights | preparesInput | alignsBatch},
		"Div": {attributes: accept(2, legacyBroadcast, "consumed_inputs"), make: oneResult(binary), fold: fold.Div,
			batch: batchaxis.Aligned, integers: computeWhole, traits: onWeights | preparesInput | alignsBatch},
		"Sum": {attributes: accept(node.ManyOperands, "", "consumed_inputs"), make: oneResult(sum), fold: fold.Sum,
			batch: batchaxis.Aligned, traits: onWeights | alignsBatch},
		"ReduceMean": {attributes: accept(2, reduceAttributes), refused: "axis 0", make: oneResult(reduce),
			fold: fold.ReduceMean, batch: batchaxis.Reduced, traits: hasSettings | onWeights},
		"ReduceProd": {attributes: accept(2, reduceAttributes), refused: "axis 0", make: oneResult(reduce),
			fold: fold.ReduceProd, batch: batchaxis.Reduced, traits: hasSettings},
		"ReduceMax": {attributes: accept(2, reduceAttributes), refused: "axis 0", make: oneResult(reduce),
			fold: fold.ReduceMax, batch: batchaxis.Reduced, integers: moveNumbers | keepBounds,
			traits: hasSettings | onWeights},
		"ReduceMin": {attributes: accept(2, reduceAttributes), refused: "axis 0", make: oneResult(reduce),
			fold: fold.ReduceMin, batch: batchaxis.Reduced, integers: moveNumbers | keepBounds,
			traits: hasSettings | onWeights},
		"ReduceSum": {attributes: accept(2, reduceAttributes), refused: "axis 0", make: oneResult(reduce),
			fold: fold.ReduceSum, batch: batchaxis.Reduced, traits: hasSettings | onWeights},
	})
}

// useOf classifies the use of a constant by an operation.
var useOf = map[graph.Op]use{graph.Add: added, graph.Sub: added, graph.Mul: factor, graph.Div: factor}

var binaryOps = map[string]graph.Op{"Add": graph.Add, "Sub": graph.Sub, "Mul": graph.Mul, "Div": graph.Div}

// binary reads Add, Sub, Mul and Div of two values, or of a value and a constant.
func binary(c *call) graph.Value {
	if len(c.In) != 2 {
		c.Fail("has %d operands, want 2", len(c.In))
		return graph.None
	}
	op := binaryOps[c.Proto.OpType]
	a, b := c.In[0], c.In[1]
	adds := func(x node.Value, name string) bool { return x.Added != "" && x.Added == name }
	if op == graph.Add && (adds(a, c.Proto.Input[1]) || adds(b, c.Proto.Input[0])) {
		return max(a.V, b.V)
	}
	switch {
	case a.IsConstant():
		return addConstant(c, op, 1, 0)
	case b.IsConstant():
		return addConstant(c, op, 0, 1)
	}
	return c.node(op, "", c.operandPair())
}

// addConstant combines the value of operand x with the constant operand k.
func addConstant(c *call, op graph.Op, x, k int) graph.Value {
	t := c.ToF32(c.In[k].Tensor)
	shape := c.aligned(t.Shape, c.Rank(x))
	if c.Err != nil {
		return graph.None
	}
	raises := len(shape) > len(c.Shape(x)) // the result has more axes than the value
	if t.Count() == 1 && !raises && !c.isParameter(k) && !c.isLifted(k) {
		if v, ok := addScalar(c, op, x, t.F32()[0]); ok {
			return v
		}
	}
	role := c.learned(k, useOf[op])
	if from := c.In[x].Op; op == graph.Add && (from == "Conv" || from == "ConvTranspose" ||
		from == "MatMul" || from == "Gemm") {
		role = graph.Bias
	}
	in := []graph.Value{graph.None, graph.None}
	in[x], in[k] = c.Dynamic(x), graph.None
	if o := c.originOf(c.Proto.Input[k]); len(o.shape) == 1 && len(shape) > 1 && o.shape[0] == shape[0] &&
		t.Count() == shape[0] && c.behindGroupNorm(c.Proto.Input[x], 2) { // it is the scale of a norm
		in[k] = c.node(graph.Reshape, ".each", []graph.Value{c.state(k, role, shape[0])}, "shape", shape)
	} else {
		in[k] = c.state(k, role, shape...)
	}
	return c.node(op, "", in)
}

// behindGroupNorm reports whether a name is the result of an instance norm, or its product with a
// constant. PyTorch writes a group norm as an instance norm between two Reshapes, which count too.
func (r *reader) behindGroupNorm(name string, steps int) bool {
	for _, n := range r.src.Node {
		if !slices.Contains(n.Output, name) {
			continue
		}
		if n.OpType == "InstanceNormalization" {
			return true
		}
		return steps > 0 && (n.OpType == "Mul" || n.OpType == "Reshape") && r.behindGroupNorm(n.Input[0], steps-1)
	}
	return false
}

// addScalar combines a value with one number, if an affine node computes exactly the same.
func addScalar(c *call, op graph.Op, x int, k float32) (graph.Value, bool) {
	in, v := []graph.Value{c.Dynamic(x)}, float64(k)
	fraction, _ := math.Frexp(v)
	switch {
	case op == graph.Add:
		return c.node(graph.Affine, "", in, "add", shortest(v)), true
	case op == graph.Mul:
		return c.node(graph.Affine, "", in, "by", shortest(v)), true
	case op == graph.Sub && x == 0:
		return c.node(graph.Affine, "", in, "add", shortest(-v)), true
	case op == graph.Sub:
		return c.node(graph.Affine, "", in, "by", -1.0, "add", shortest(v)), true
	case op == graph.Div && x == 0 && math.Abs(fraction) == 0.5: // the divisor is a power of two
		return c.node(graph.Affine, "", in, "by", 1/v), true
	}
	return graph.None, false
}

// sum adds its operands, values and constants, from left to right.
func sum(c *call) graph.Value {
	return reduceLeft(c, func(c *call) graph.Value { return binary(c) }, "Add")
}

// reduceLeft applies an operator of two operands to any number of operands, from left to right.
func reduceLeft(c *call, apply func(*call) graph.Value, op string) graph.Value {
	if len(c.In) == 1 {
		return c.Dynamic(0)
	}
	acc := c.In[0]
	name := c.Proto.Input[0]
	for i := 1; i < len(c.In); i++ {
		step := *c
		step.Proto = &onnxpb.NodeProto{OpType: op, Input: []string{name, c.Proto.Input[i]},
			Attribute: c.Proto.Attribute}
		step.In = []node.Value{acc, c.In[i]}
		if i < len(c.In)-1 {
			step.name += ".part"
		}
		if acc.IsConstant() && c.In[i].IsConstant() {
			c.Fail("of two constants before a value is not supported")
			return graph.None
		}
		acc = node.Rows(apply(&step))
		if c.Err, c.MixesBatch = step.Err, step.MixesBatch; c.Err != nil {
			return graph.None
		}
		name = step.name
	}
	return acc.V
}

var reduceOps = map[string]graph.Op{"ReduceMean": graph.ReduceMean, "ReduceSum": graph.ReduceSum,
	"ReduceMax": graph.ReduceMax, "ReduceMin": graph.ReduceMin, "ReduceProd": graph.ReduceProd}

// reduce reads a reduction over axes other than the batch.
func reduce(c *call) graph.Value {
	at := readReducedAxes(c)
	if c.Err == nil && len(at) == 0 {
		return c.Dynamic(0)
	}
	op := reduceOps[c.Proto.OpType]
	return c.node(op, "", []graph.Value{c.Dynamic(0)}, "axes", at, "keep", c.Int("keepdims", 1) != 0)
}

// readReducedAxes returns the axes of a reduction in order. It returns nil for an empty list, which
// leaves the operand unchanged.
func readReducedAxes(c *call) []int {
	axes, ok := c.List("axes", 1)
	if !ok || len(axes) == 0 {
		if c.Int("noop_with_empty_axes", 0) == 0 {
			if c.Unbatched {
				return element.Indices(len(c.Shape(0)))
			}
			c.FailAcrossBatch("over all axes reduces the batch")
		}
		return nil
	}
	var at []int
	for _, a := range axes {
		at = append(at, c.Axis(a, len(c.Shape(0))))
	}
	slices.Sort(at)
	return slices.Compact(at)
}
