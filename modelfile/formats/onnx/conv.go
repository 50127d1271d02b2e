package onnx

import "github.com/bnctl/bnctl/graph"

// kernelShape returns the shape of the kernel, operand 1, with two axes of space.
func (c *call) kernelShape(axes int) []int {
	t, _ := c.constant(1)
	if len(t.Shape) != axes+2 {
		c.fail("its kernel is %v, want a constant of rank %d", t, axes+2)
		return []int{1, 1, 1, 1}
	}
	if axes == 1 {
		return []int{t.Shape[0], t.Shape[1], 1, t.Shape[2]}
	}
	return t.Shape
}

// bias returns the value of operand 2, graph.None if there is none.
func (c *call) bias(n int) graph.Value {
	if !c.has(2) {
		return graph.None
	}
	return c.state(2, graph.Bias, n)
}

func conv(c *call) graph.Value {
	s := c.space(0)
	k := c.kernelShape(len(s) - 1)
	w := c.window(k[len(k)-len(s)+1:], s[1:]).image()
	if c.err != nil {
		return graph.None
	}
	in := []graph.Value{c.toImage(c.flow(0), s), c.state(1, graph.Weight, k...), c.bias(k[0])}
	v := c.node(graph.Conv, "", in,
		"stride", w.stride, "pad", w.pads(), "dilation", w.dilation, "groups", c.int("group", 1))
	return c.fromImage(v, len(s)-1)
}

func convTranspose(c *call) graph.Value {
	s := c.space(0)
	if len(s) != 3 {
		c.fail("of lines is not supported")
	}
	if c.attribute("output_shape") != nil {
		c.fail("with output_shape is not supported, only with pads")
	}
	if c.text("auto_pad", "NOTSET") != "NOTSET" {
		c.fail("with auto_pad is not supported, only with pads")
	}
	k := c.kernelShape(2)
	w := c.window(k[2:], []int{1, 1})
	groups := c.int("group", 1)
	if c.err != nil {
		return graph.None
	}
	in := []graph.Value{c.flow(0), c.state(1, graph.Weight, k...), c.bias(k[1] * groups)}
	return c.node(graph.ConvTranspose, "", in,
		"stride", w.stride, "pad", w.pads(), "dilation", w.dilation, "groups", groups,
		"output_pad", c.ints("output_padding", 2, 0))
}
