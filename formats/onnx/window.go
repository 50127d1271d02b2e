package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
)

// window describes how a convolution or a pool moves over the spatial axes of its operand.
// beyond is the part of the padding end that exists because the number of windows is
// rounded up. An average does not count this part.
type window struct{ kernel, stride, dilation, begin, end, beyond []int }

// window reads the attributes of a window over axes of the given lengths.
func (c *call) window(kernel, size []int) window {
	n := len(size)
	if c.Attribute("kernel_shape") != nil && !slices.Equal(c.Ints("kernel_shape", n, 0), kernel) {
		c.Fail("kernel_shape is %v, the kernel %v", c.Attribute("kernel_shape").Ints, kernel)
	}
	w := window{kernel: kernel, stride: c.Ints("strides", n, 1), dilation: c.Ints("dilations", n, 1)}
	pads := c.Ints("pads", 2*n, 0)
	w.begin, w.end, w.beyond = pads[:n], pads[n:], make([]int, n)
	for _, v := range slices.Concat(w.kernel, w.stride, w.dilation) {
		if v < 1 {
			c.Fail("kernel %v, strides %v, dilations %v: want at least 1 everywhere", kernel, w.stride, w.dilation)
			return w
		}
	}
	switch auto := c.Text("auto_pad", "NOTSET"); auto {
	case "NOTSET":
	case "VALID":
		clear(pads)
	case "SAME_UPPER", "SAME_LOWER":
		w.setSame(size, auto == "SAME_LOWER")
	default:
		c.Fail("auto_pad is %.40q", auto)
	}
	if slices.Min(pads) < 0 {
		c.Fail("pads %v: want at least 0 everywhere", pads)
	}
	return w
}

// setSame sets the pads so that ceil(n/stride) windows fit. If their number is odd, the additional element
// is at the end or, with lower, at the beginning.
func (w *window) setSame(size []int, lower bool) {
	for a, n := range size {
		total := max((node.Ceil(n, w.stride[a])-1)*w.stride[a]+w.span(a)-n, 0)
		w.begin[a] = total / 2
		if lower {
			w.begin[a] = total - total/2
		}
		w.end[a] = total - w.begin[a]
	}
}

func (w *window) span(a int) int { return w.dilation[a]*(w.kernel[a]-1) + 1 }

// image returns the window over two axes. A window over one axis gets a first axis of length 1.
func (w window) image() window {
	if len(w.kernel) == 2 {
		return w
	}
	return window{append([]int{1}, w.kernel...), append([]int{1}, w.stride...),
		append([]int{1}, w.dilation...),
		append([]int{0}, w.begin...), append([]int{0}, w.end...), append([]int{0}, w.beyond...)}
}

// isElement reports whether the window visits each element of an axis by itself.
func (w *window) isElement(a int) bool {
	return w.kernel[a] == 1 && w.stride[a] == 1 && w.begin[a] == 0 && w.end[a] == 0
}

// slice returns the window over some of its axes.
func (w *window) slice(start, end int) window {
	return window{w.kernel[start:end], w.stride[start:end], w.dilation[start:end], w.begin[start:end],
		w.end[start:end],
		w.beyond[start:end]}
}

func (w *window) pads() []int { return slices.Concat(w.begin, w.end) }

// toImage reshapes a line to an image of height 1.
func (c *call) toImage(v graph.Value, shape []int) graph.Value {
	if len(shape) == 3 {
		return v
	}
	return c.node(graph.Reshape, ".image", []graph.Value{v}, "shape", []int{shape[0], 1, shape[1]})
}

// fromImage undoes toImage: it turns an image of height 1 back into a line.
func (c *call) fromImage(v graph.Value, axes int) graph.Value {
	if s := c.g.Type(v).Shape; axes == 1 && len(s) == 3 {
		return c.node(graph.Reshape, ".line", []graph.Value{v}, "shape", []int{s[0], s[2]})
	}
	return v
}
