package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// A constant may be computed from parameters: a slice of position embeddings, 1 plus a gain, or a
// normalised weight. If the graph is to be trained, the nodes that compute it become nodes of the
// graph, so that the gradient reaches the parameters. The values of these nodes are the same for
// all rows, which the graph calls the kind whole.

// keepLift records a node that computes a constant from parameters.
func (c *call) keepLift(op string, out []node.Value) {
	if !c.forTraining || !table[op].traits.has(onWeights) || len(out) == 0 || len(c.Proto.Output) == 0 {
		return
	}
	for k, name := range c.Proto.Output {
		if k >= len(out) || !out[k].IsConstant() || !element.IsFloat(out[k].Tensor.DType) ||
			c.initial[c.originOf(name).name] {
			return
		}
	}
	for i := range c.Proto.Input {
		if c.Has(i) && (c.isParameter(i) || c.lifts[c.Proto.Input[i]] != nil) {
			for _, name := range c.Proto.Output {
				c.lifts[name] = c.Proto
			}
		}
	}
}

// isLifted reports whether operand i is computed from parameters.
func (c *call) isLifted(i int) bool { return c.Has(i) && c.lifts[c.Proto.Input[i]] != nil }

// inShape reshapes v to a shape.
func (c *call) inShape(v graph.Value, shape []int) graph.Value {
	if c.Err != nil || v == graph.None || slices.Equal(c.g.Type(v).Shape, shape) {
		return v
	}
	return c.node(graph.Reshape, ".shaped", []graph.Value{v}, "shape", shape)
}

// lift returns the value of a constant that is a parameter, or is computed from parameters. A parameter
// gets the given role.
func (c *call) lift(name string, role graph.Role) graph.Value {
	if v, ok := c.lifted[name]; ok || c.Err != nil {
		return v
	}
	if role == graph.Constant {
		role = graph.Bias
	}
	t := c.values[name].Tensor
	n := c.lifts[name]
	if n == nil {
		return c.declare(name, role, c.ToF32(t))
	}
	p := &call{reader: c.reader, Node: c.nodeOf(n), name: nodeName(n)}
	p.Unbatched = true
	for _, in := range n.Input {
		p.In = append(p.In, c.liftedOperand(in, role))
	}
	v := p.lifting(slices.Index(n.Output, name), t.Shape)
	if c.Err == nil {
		c.Err = p.Err
	}
	c.lifted[name] = c.inShape(v, t.Shape)
	return c.lifted[name]
}

// liftedOperand returns an operand of a lifted node. It is a value if it is a parameter or computed
// from parameters.
func (c *call) liftedOperand(name string, role graph.Role) node.Value {
	probe := &call{reader: c.reader, Node: c.nodeOf(&onnxpb.NodeProto{Input: []string{name}})}
	probe.In = []node.Value{c.values[name]}
	if name == "" || c.lifts[name] == nil && !probe.isParameter(0) {
		return c.values[name]
	}
	x := node.Rows(c.lift(name, role))
	x.Unbatched, x.Op = true, "Constant"
	return x
}

// declareConstants declares the constant operands as tensors that the model stores, which
// makes them values of the graph.
func (c *call) declareConstants() {
	for i, x := range c.In {
		if x.IsConstant() {
			c.In[i] = node.Rows(c.declare(c.Proto.Input[i], graph.Constant, c.ToF32(x.Tensor)))
			c.In[i].Unbatched = true
		}
	}
}

// lifting adds the nodes of an operator on values that are computed from parameters. It returns
// result k in the given shape.
func (c *call) lifting(k int, shape []int) graph.Value {
	first := c.In[0].V
	switch op := c.Proto.OpType; {
	case table[op].traits.has(onlyReshapes) || op == "Identity":
		return first
	case op == "Transpose":
		return c.node(graph.Transpose, "", []graph.Value{first}, "perm", c.Permutation(len(c.g.Type(first).Shape)))
	case op == "Expand":
		return c.node(graph.BroadcastTo, "", []graph.Value{first}, "shape", shape)
	case op == "MatMul":
		c.declareConstants()
		return makeDynamicMatMul(c)
	case op == "Gather" && c.In[0].IsConstant():
		c.Fail("of a constant by parameters")
		return graph.None
	default:
		out := table[op].make(c)
		if c.Err != nil || k >= len(out) {
			return graph.None
		}
		return out[k].V
	}
}
