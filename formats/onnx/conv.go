package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		"Conv": {attributes: accept(3, windowAttributes+" group"), refused: "volumes", make: oneResult(conv),
			traits: needsBatch},
		"ConvTranspose": {attributes: accept(3, windowAttributes+" group output_padding output_shape"),
			refused: "volumes; auto_pad SAME of a kernel that reaches less than its stride",
			make:    oneResult(convTranspose), traits: needsBatch},
	})
}

// readKernelShape returns the shape of the kernel, operand 1, with two spatial axes.
func readKernelShape(c *call, axes int) []int {
	t, _ := c.Constant(1)
	if len(t.Shape) != axes+2 {
		c.Fail("its kernel is %v, want a constant of rank %d", t, axes+2)
		return []int{1, 1, 1, 1}
	}
	if axes == 1 {
		return []int{t.Shape[0], t.Shape[1], 1, t.Shape[2]}
	}
	return t.Shape
}

// declareBias declares operand 2 as the bias. It returns graph.None if the operand is absent.
func declareBias(c *call, n int) graph.Value {
	if !c.Has(2) {
		return graph.None
	}
	return c.state(2, graph.Bias, n)
}

func conv(c *call) graph.Value {
	s := c.SpatialShape(0)
	k := readKernelShape(c, len(s)-1)
	w := c.window(k[len(k)-len(s)+1:], s[1:]).image()
	if c.Err != nil {
		return graph.None
	}
	in := []graph.Value{c.toImage(c.Dynamic(0), s), c.state(1, graph.Weight, k...), declareBias(c, k[0])}
	v := c.node(graph.Conv, "", in,
		"stride", w.stride, "pad", w.pads(), "dilation", w.dilation, "groups", c.Int("group", 1))
	return c.fromImage(v, len(s)-1)
}

func convTranspose(c *call) graph.Value {
	s := c.SpatialShape(0)
	axes := len(s) - 1
	k := readKernelShape(c, axes)
	w, more := readTransposedWindow(c, k[4-axes:], s[1:])
	groups := c.Int("group", 1)
	if c.Err != nil {
		return graph.None
	}
	w = w.image()
	in := []graph.Value{c.toImage(c.Dynamic(0), s), c.state(1, graph.Weight, k...), declareBias(c, k[1]*groups)}
	v := c.node(graph.ConvTranspose, "", in,
		"stride", w.stride, "pad", w.pads(), "dilation", w.dilation, "groups", groups,
		"output_pad", append(make([]int, 2-axes), more...))
	return c.fromImage(v, axes)
}

// readTransposedWindow reads the window of a transposed convolution. Its pads may follow from the size
// of the result, which is output_shape or, with auto_pad, the operand's size times the stride. unread is
// the number of elements at the end of the result that no window reaches.
func readTransposedWindow(c *call, kernel, size []int) (w window, unread []int) {
	auto := c.Text("auto_pad", "NOTSET")
	w = c.window(kernel, slices.Repeat([]int{1}, len(size))) // pads of the convolution that is transposed
	unread = c.Ints("output_padding", len(size), 0)
	var want []int
	switch {
	case c.Err != nil:
		return w, unread
	case c.Attribute("output_shape") != nil:
		n := len(size)
		if len(c.Attribute("output_shape").Ints) == n+2 { // it includes the batch and the channels
			n += 2
		}
		want = c.Ints("output_shape", n, 0)[n-len(size):]
	case auto == "SAME_UPPER" || auto == "SAME_LOWER":
		for a, n := range size {
			want = append(want, n*w.stride[a])
		}
	}
	for a, n := range want {
		total := w.stride[a]*(size[a]-1) + unread[a] + w.span(a) - n
		if total < 0 && c.Attribute("output_shape") == nil {
			c.Fail("with auto_pad %s and a kernel that reaches %d, less than its stride of %d, is not supported: the "+
				"standard gives it a length of %d, ONNX Runtime of %d", auto, w.span(a), w.stride[a], n, n+total)
		}
		if total < 0 {
			unread[a], total = unread[a]-total, 0
		}
		w.begin[a] = total - total/2
		if auto == "SAME_UPPER" {
			w.begin[a] = total / 2
		}
		w.end[a] = total - w.begin[a]
	}
	return w, unread
}
