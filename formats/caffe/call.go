package caffe

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// call is a layer that is being added.
type call struct {
	*build
	*layer
	index int
	p     param
	in    []graph.Value
}

// shape returns the shape of an input, without the batch.
func (c *call) shape(i int) []int { return c.Type(c.in[i]).Shape }

// node adds a node named after the layer.
func (c *call) node(op graph.Op, suffix string, operands []graph.Value, attrs ...any) graph.Value {
	return c.Op(op, c.UniqueName(clean(c.name+suffix)), operands, attrs...)
}

// done makes v the layer's output.
func (c *call) done(v graph.Value) error {
	c.set(c.top[0], v)
	return c.Err()
}

// weight loads blob i of the layer in the given shape, and declares it as a weight of the
// graph.
func (c *call) weight(i int, name string, role graph.Role, shape ...int) (graph.Value, error) {
	if i >= len(c.blobs) {
		return graph.None, fmt.Errorf("has %d blobs, %s is blob %d: the file holds no weights, or not all",
			len(c.blobs), name, i)
	}
	t, err := c.layer.blobs[i].load(shape...)
	if err != nil {
		return graph.None, fmt.Errorf("%s: %w", name, err)
	}
	return c.declare(c.name+"."+name, role, t), nil
}

// constant declares a vector of n equal elements.
func (c *call) constant(name string, n int, v float32) graph.Value {
	t := tensor.New(tensor.F32, n)
	for i := range t.F32() {
		t.F32()[i] = v
	}
	return c.declare(c.name+"."+name, graph.Constant, t)
}
