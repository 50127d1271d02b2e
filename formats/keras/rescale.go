package keras

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// rescale computes scale*x + offset. scale and offset are each one number, or have one
// number for each channel.
func rescale(c *call) flow {
	f := c.operand()
	if !c.several("scale") && !c.several("offset") {
		by, add := c.float("scale", 1), c.float("offset", 0)
		return f.sameOrder(c.node(graph.Affine, "", []graph.Value{f.v}, "by", by, "add", add))
	}
	f = c.channelsFirst(f)
	by, add := c.perChannel(f, "scale", 1), c.perChannel(f, "offset", 0)
	v := c.node(graph.Mul, ".scaled", []graph.Value{f.v, by})
	return f.sameOrder(c.node(graph.Add, "", []graph.Value{v, add}))
}

// several reports whether a field holds several numbers.
func (c *call) several(key string) bool { return c.has(key) && c.m[key][0] == '[' }

// perChannel declares a field as a constant that broadcasts to f. The field is a list with
// one number for each channel, or one number for all channels.
func (c *call) perChannel(f flow, key string, def float32) graph.Value {
	full := c.graphShape(f.shape)
	if len(full) == 0 || c.err != nil {
		return graph.None
	}
	channels := full[0]
	values := slices.Repeat([]float32{def}, channels)
	if c.several(key) {
		var given []*float32
		c.into(key, &given, "a list of numbers")
		values = nil
		for _, v := range given {
			if v == nil {
				c.fail("%s is %.80s, want a list of numbers", key, c.m[key])
				return graph.None
			}
			values = append(values, *v)
		}
	} else if c.has(key) {
		values = slices.Repeat([]float32{float32(c.float(key, 0))}, channels)
	}
	if len(values) != channels || c.first {
		c.fail("%s is %.80s for %d channels", key, c.m[key], channels)
		return graph.None
	}
	shape := slices.Repeat([]int{1}, len(full))
	shape[0] = channels
	return c.declare(key, graph.Constant, tensor.Of(values, shape...))
}
