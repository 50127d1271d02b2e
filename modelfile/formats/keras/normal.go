package keras

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// normalization takes the mean and the variance that adapt() found, or that the
// configuration gives: (x - mean) / max(sqrt(variance), 1e-7), or back.
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
		return f.same(c.node(graph.Add, "", []graph.Value{v, from}))
	}
	v := c.node(graph.Sub, ".centred", []graph.Value{f.v, from})
	return f.same(c.node(graph.Div, "", []graph.Value{v, by}))
}

// moment returns the mean or the variance as it broadcasts to a tensor of a shape.
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

// weightAs loads a weight of a shape in the file as one of another shape here.
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

// normalised is (x - mean) / sqrt(variance + eps) over axes of a value.
func (c *call) normalised(x graph.Value, axes []int, eps float64) graph.Value {
	mean := c.node(graph.ReduceMean, ".mean", []graph.Value{x}, "axes", axes, "keep", true)
	centred := c.node(graph.Sub, ".centred", []graph.Value{x, mean})
	squares := c.node(graph.Mul, ".squares", []graph.Value{centred, centred})
	variance := c.node(graph.ReduceMean, ".variance", []graph.Value{squares}, "axes", axes, "keep", true)
	variance = c.node(graph.Affine, ".eps", []graph.Value{variance}, "add", eps)
	return c.node(graph.Div, ".normalised", []graph.Value{centred,
		c.node(graph.Sqrt, ".std", []graph.Value{variance})})
}

// affinely multiplies channels by gamma and adds beta, if the layer has them.
func (c *call) affinely(f flow, v graph.Value) flow {
	graphShape := c.graphShape(f.shape)
	shape := slices.Repeat([]int{1}, len(graphShape))
	shape[0] = graphShape[0]
	for _, p := range []struct {
		name, field string
		op          graph.Op
	}{{"gamma", "scale", graph.Mul}, {"beta", "center", graph.Add}} {
		if c.bool(p.field, true) {
			w := c.declare(p.name, graph.Constant, c.weightAs(shape, p.name, graphShape[0]))
			v = c.node(p.op, "."+p.name, []graph.Value{v, w})
		}
	}
	return f.same(v)
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
	return c.affinely(f, c.normalised(f.v, []int{0}, c.float("epsilon", 1e-3)))
}

// groupNorm normalises groups of channels; -1 group is one for each channel.
func groupNorm(c *call) flow {
	f := c.channelsFirst(c.operand())
	axis, groups := c.channelAxis(f), c.int("groups", 32)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	shape := c.graphShape(f.shape)
	if groups == -1 {
		groups = shape[0]
	}
	if c.axis(axis, len(f.shape)) != 0 || groups < 1 || shape[0]%groups != 0 {
		return c.fail("normalises axis %d of %v in %d groups", axis+1, f.shape, groups)
	}
	v := c.node(graph.Reshape, ".groups", []graph.Value{f.v}, "shape",
		[]int{groups, tensor.Count(shape) / groups})
	v = c.normalised(v, []int{1}, c.float("epsilon", 1e-3))
	return c.affinely(f, c.node(graph.Reshape, ".shaped", []graph.Value{v}, "shape", shape))
}

// unitNorm divides by the root of the sum of squares of the channels. Keras 3
// bounds the root from below, versions before the sum.
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
	return f.same(c.node(graph.Div, "", []graph.Value{f.v, v}))
}
