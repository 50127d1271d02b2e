package keras

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// normalization uses the mean and the variance computed by adapt() or given in the
// configuration: (x - mean) / max(sqrt(variance), 1e-7), or the inverse.
func normalization(c *call) flow {
	f := c.channelsFirst(c.operand())
	shape := c.graphShape(f.shape)
	if len(shape) == 0 || c.err != nil {
		return c.fail("normalises a tensor of shape %v", f.shape)
	}
	channels := true
	if c.has("axis") {
		if axis := c.channelAxis(f); c.fields.err != nil || c.err != nil || c.axis(axis, len(f.shape)) != 0 {
			return c.fail("axis is %.80s; only the axis of the channels, or null, is supported", c.m["axis"])
		}
	} else if _, given := c.m["axis"]; given {
		channels = false // null: one mean for all
	}
	mean, variance := c.moment("mean", shape, channels), c.moment("variance", shape, channels)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	for i, v := range variance.F32() {
		variance.F32()[i] = float32(max(math.Sqrt(float64(v)), 1e-7))
	}
	by, from := c.declare("std", graph.Constant, variance), c.declare("mean", graph.Constant, mean)
	if c.bool("invert", false) {
		v := c.node(graph.Mul, ".scaled", []graph.Value{f.v, by})
		return f.sameOrder(c.node(graph.Add, "", []graph.Value{v, from}))
	}
	v := c.node(graph.Sub, ".centred", []graph.Value{f.v, from})
	return f.sameOrder(c.node(graph.Div, "", []graph.Value{v, by}))
}

// moment returns the mean or the variance in a shape that broadcasts to graphShape.
// channels means that there is one number for each channel.
func (c *call) moment(name string, graphShape []int, channels bool) tensor.Tensor {
	n := 1
	if channels {
		n = graphShape[0]
	}
	shape := slices.Repeat([]int{1}, len(graphShape))
	shape[0] = n
	if !c.has(name) {
		if !channels {
			return c.weightAs(shape, name)
		}
		return c.weightAs(shape, name, n)
	}
	values := c.reals(name)
	if len(values) == 1 {
		values = slices.Repeat(values, n)
	}
	if len(values) != n {
		c.fail("%s is %.80s for %d channels", name, c.m[name], n)
		return tensor.New(tensor.F32, shape...)
	}
	return tensor.Of(values, shape...)
}

// weightAs loads a weight and reshapes it to shape. The argument file is the shape that it
// has in the file.
func (c *call) weightAs(shape []int, param string, file ...int) tensor.Tensor {
	t := c.weight(param, file...)
	if c.err != nil {
		return tensor.New(tensor.F32, shape...)
	}
	return t.Clone().Reshape(shape...)
}

// reals reads a number, or lists of numbers at any depth.
func (c *call) reals(key string) []float32 {
	var x any
	c.into(key, &x, "numbers")
	var out []float32
	var flatten func(x any) bool
	flatten = func(x any) bool {
		switch x := x.(type) {
		case float64:
			out = append(out, float32(x))
			return true
		case []any:
			return !slices.ContainsFunc(x, func(y any) bool { return !flatten(y) })
		}
		return false
	}
	if !flatten(x) {
		c.fail("%s is %.80s, want numbers", key, c.m[key])
	}
	return out
}

// rowNorm adds a norm of each row, with gamma and beta if the layer has them.
func (c *call) rowNorm(f flow, op graph.Op, pairs ...any) flow {
	n := c.graphShape(f.shape)[0]
	in := []graph.Value{f.v, graph.None, graph.None}
	for i, p := range []struct {
		name, field string
		role        graph.Role
	}{{"gamma", "scale", graph.Gamma}, {"beta", "center", graph.Beta}} {
		if c.bool(p.field, true) {
			in[1+i] = c.declare(p.name, p.role, c.weight(p.name, n))
		}
	}
	return f.sameOrder(c.node(op, "", in, append(pairs, "eps", c.float("epsilon", 1e-3))...))
}

// layerNorm normalises the channels at each position.
func layerNorm(c *call) flow {
	f := c.channelsFirst(c.operand())
	axis := c.channelAxis(f)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	if c.axis(axis, len(f.shape)) != 0 {
		return c.fail("normalises axis %d of %v; only the axis of the channels is supported", axis+1, f.shape)
	}
	return c.rowNorm(f, graph.LayerNorm, "axes", []int{0})
}

// groupNorm normalises groups of channels; -1 means one group per channel.
func groupNorm(c *call) flow {
	f := c.channelsFirst(c.operand())
	axis, groups := c.channelAxis(f), c.int("groups", 32)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	n := c.graphShape(f.shape)[0]
	if groups == -1 {
		groups = n
	}
	if c.axis(axis, len(f.shape)) != 0 || groups < 1 || n%groups != 0 {
		return c.fail("normalises axis %d of %v in %d groups", axis+1, f.shape, groups)
	}
	return c.rowNorm(f, graph.GroupNorm, "groups", groups)
}

// unitNorm divides by the root of the sum of squares of the channels. Keras 3 bounds the
// root from below; earlier versions bound the sum.
func unitNorm(c *call) flow {
	const least = 1e-12
	f := c.channelsFirst(c.operand())
	axis := c.channelAxis(f)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	if c.axis(axis, len(f.shape)) != 0 {
		return c.fail("normalises axis %d of %v; only the axis of the channels is supported", axis+1, f.shape)
	}
	v := c.node(graph.Mul, ".squares", []graph.Value{f.v, f.v})
	v = c.node(graph.ReduceSum, ".sum", []graph.Value{v}, "axes", []int{0}, "keep", true)
	bound := func() {
		v = c.node(graph.Clip, ".some", []graph.Value{v}, "min", least, "max", math.MaxFloat32)
	}
	if c.major < 3 {
		bound()
	}
	v = c.node(graph.Sqrt, ".norm", []graph.Value{v})
	if c.major >= 3 {
		bound()
	}
	return f.sameOrder(c.node(graph.Div, "", []graph.Value{f.v, v}))
}
