package keras

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// call is one call of a layer while it is added to the graph. The first error is kept.
type call struct {
	*build
	*fields
	l    *layer
	in   []flow
	name string
	err  error
}

func (c *call) fail(format string, args ...any) flow {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	return flow{v: graph.None, logits: graph.None}
}

// operand returns the only operand.
func (c *call) operand() flow { return c.in[0] }

// node adds a node named after the layer, with a suffix if it is not the layer's last node.
func (c *call) node(op graph.Op, suffix string, in []graph.Value, pairs ...any) graph.Value {
	if c.err != nil || c.fields.err != nil {
		return graph.None
	}
	return c.g.Op(op, c.g.UniqueName(c.name+suffix), in, pairs...)
}

// like returns a flow for the graph's value v, with the order of axes that f has. It reads
// the shape from the graph.
func (c *call) like(f flow, v graph.Value) flow {
	if f.kerasOrder {
		return c.inKerasOrder(v)
	}
	out := c.shaped(v)
	out.flat = f.flat
	return out
}

// shaped returns a flow for a value with its channels first, and reads the shape from the
// graph.
func (c *call) shaped(v graph.Value) flow {
	graphShape := c.g.Type(v).Shape // empty after an error, which the graph keeps
	shape := make([]int, len(graphShape))
	for a, from := range c.toKeras(len(graphShape)) {
		shape[a] = graphShape[from]
	}
	return flow{v: v, shape: shape, logits: graph.None}
}

// sameOrder returns a flow for the graph's value v, with the shape and the order of axes that f
// has.
func (f flow) sameOrder(v graph.Value) flow {
	return flow{v: v, shape: f.shape, kerasOrder: f.kerasOrder, flat: f.flat, logits: graph.None}
}

// inKerasOrder returns a flow for a value that has its axes in Keras's order in the graph.
func (c *call) inKerasOrder(v graph.Value) flow {
	shape := slices.Clone(c.g.Type(v).Shape)
	return flow{v: v, shape: shape, kerasOrder: !c.first && len(shape) > 1, logits: graph.None}
}

// weight loads a weight of the layer. It must have the given shape, in Keras's order of
// axes; a length of -1 stands for any length.
func (c *call) weight(param string, shape ...int) tensor.Tensor {
	blank := tensor.New(tensor.F32, slices.Repeat([]int{1}, len(shape))...)
	a, ok := c.weights[c.l][param]
	if !ok {
		c.fail("the file has no weight %s", param)
		return blank
	}
	got := a.shape
	fits := len(got) == len(shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = got[i] > 0 && (shape[i] < 0 || got[i] == shape[i])
	}
	if !fits {
		c.fail("weight %s has the shape %v, want %v", a.name, got, shape)
		return blank
	}
	if c.weightBudget -= a.value.Size(); c.weightBudget < 0 {
		c.fail("the weights of shared layers are read over and over")
		return blank
	}
	t, err := a.load()
	if err != nil {
		c.fail("%w", err)
		return blank
	}
	return t
}

// declare adds a weight of the layer to the state of the model.
func (c *call) declare(param string, role graph.Role, t tensor.Tensor) graph.Value {
	if c.err != nil {
		return graph.None
	}
	return c.build.declare(c.name+"."+param, role, t)
}

// bias declares the layer's bias; graph.None if it has no bias.
func (c *call) bias(n int) graph.Value {
	if !c.bool("use_bias", true) {
		return graph.None
	}
	return c.declare("bias", graph.Bias, c.weight("bias", n))
}

// channelsFirst returns f in the layout of the graph: with the channels first. The elements
// of a flattened tensor are brought into Keras's order.
func (b *build) channelsFirst(f flow) flow {
	switch {
	case f.kerasOrder:
		return flow{v: b.transposed(f.v, inverse(b.toKeras(len(f.shape)))), shape: f.shape, logits: graph.None}
	case f.flat == nil:
		return f
	}
	name := b.g.UniqueName("ordered")
	perm := b.lastOrder(len(f.flat))
	v := b.g.Op(graph.Reshape, name, []graph.Value{f.v}, "shape", f.flat)
	v = b.g.Op(graph.Transpose, b.g.UniqueName(name), []graph.Value{v}, "perm", perm)
	v = b.g.Op(graph.Reshape, b.g.UniqueName(name), []graph.Value{v}, "shape", f.shape)
	return flow{v: v, shape: f.shape, logits: graph.None}
}

// inElementOrder returns f with the elements of a flattened tensor in Keras's order. It
// does not move the axes of other tensors.
func (b *build) inElementOrder(f flow) flow {
	if f.kerasOrder {
		return f
	}
	return b.channelsFirst(f)
}

// transposed adds the transposition of a value, once for all its readers.
func (b *build) transposed(v graph.Value, perm []int) graph.Value {
	if v == graph.None {
		return v
	}
	key := fmt.Sprint(v, perm)
	if have, ok := b.transpositions[key]; ok {
		return have
	}
	out := b.g.Op(graph.Transpose, b.g.UniqueName("turned"), []graph.Value{v}, "perm", perm)
	b.transpositions[key] = out
	return out
}

// outputFlow returns f in the layout of the model's outputs: pictures with their channels
// first, everything else with the axes of Keras.
func (b *build) outputFlow(f flow) flow {
	rank := len(f.shape)
	switch {
	case !b.keepsKerasOrder(rank):
		return b.channelsFirst(f)
	case f.kerasOrder:
		return f
	}
	return flow{v: b.transposed(f.v, b.toKeras(rank)), shape: f.shape, kerasOrder: true, logits: graph.None}
}

// lastOrder returns the permutation that moves the first axis after all others.
func (b *build) lastOrder(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = (i + 1) % rank
	}
	return perm
}

// buildLayer makes the nodes of the layer. Like Keras, it rejects a wrong number or rank of
// operands.
func (c *call) buildLayer() flow {
	k := kinds[c.l.class]
	if !k.joins && len(c.in) != 1 {
		return c.fail("has %d operands, want 1", len(c.in))
	}
	for space := 1; space <= 2; space++ {
		if !strings.Contains(c.l.class, fmt.Sprintf("%dD", space)) {
			continue
		}
		for _, f := range c.in {
			if len(f.shape) != space+1 {
				return c.fail("takes a tensor of rank %d with the batch, got one of shape %v", space+2, f.shape)
			}
		}
	}
	return k.make(c)
}
