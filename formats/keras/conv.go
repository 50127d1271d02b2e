package keras

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// windowSpec describes the window of a layer over an image of one or two axes.
type windowSpec struct{ kernel, stride, dilation []int }

// windowOf reads the window of a layer with the given number of spatial axes.
func (c *call) windowOf(axes int, kernel string) windowSpec {
	w := windowSpec{kernel: c.ints(kernel, axes, 0), stride: c.ints("strides", axes, 1),
		dilation: c.ints("dilation_rate", axes, 1)}
	for _, n := range slices.Concat(w.kernel, w.stride, w.dilation) {
		if n < 1 || n > 1<<16 {
			c.fail("window %v, strides %v, dilation %v: want 1 to 65536 everywhere", w.kernel, w.stride, w.dilation)
			break
		}
	}
	return w
}

// two adds an axis of length 1 in front of a window over one axis.
func (w windowSpec) two() windowSpec {
	if len(w.kernel) == 2 {
		return w
	}
	one := []int{1}
	return windowSpec{append(one, w.kernel...), append([]int{1}, w.stride...), append([]int{1}, w.dilation...)}
}

// padding returns [top, left, bottom, right] for an image of (H, W). "same" pads so that
// ceil(n/stride) windows fit. If the number of added elements is odd, the end gets one
// more.
func (c *call) padding(w windowSpec, size []int) []int {
	pad := make([]int, 4)
	how := c.text("padding", "valid")
	if c.err != nil {
		return pad
	}
	for a := range 2 {
		span := w.dilation[a]*(w.kernel[a]-1) + 1
		total := max((ceil(size[a], w.stride[a])-1)*w.stride[a]+span-size[a], 0)
		switch {
		case how == "same":
			pad[a], pad[a+2] = total/2, total-total/2
		case how == "causal" && c.l.class == "Conv1D":
			pad[a] = span - 1
		case how != "valid":
			c.fail("padding %q is not supported", how)
		}
	}
	return pad
}

func ceil(n, divisor int) int { return (n + divisor - 1) / divisor }

// spatialSize returns the channels and the two spatial axes of a channels-first operand; a
// tensor with one spatial axis gets a second one of length 1.
func (c *call) spatialSize(f flow) (channels int, size []int) {
	shape := c.graphShape(f.shape)
	if len(shape) == 2 {
		return shape[0], []int{1, shape[1]}
	}
	if len(shape) != 3 {
		return 1, []int{1, 1}
	}
	return shape[0], shape[1:]
}

// toImage reshapes a tensor with one spatial axis to one with two.
func (c *call) toImage(f flow) graph.Value {
	if len(f.shape) == 3 {
		return f.v
	}
	channels, size := c.spatialSize(f)
	return c.node(graph.Reshape, ".image", []graph.Value{f.v}, "shape", append([]int{channels}, size...))
}

// fromImage undoes toImage for the result of a convolution or pooling.
func (c *call) fromImage(v graph.Value, axes int) flow {
	if shape := c.g.Type(v).Shape; axes == 1 && len(shape) == 3 {
		v = c.node(graph.Reshape, ".line", []graph.Value{v}, "shape", []int{shape[0], shape[2]})
	}
	return c.shaped(v)
}

// kernel loads a kernel of (kh, kw, in, out), or (k, in, out), and returns it
// as [out, in, kh, kw]. Keras 1 keeps it in other orders.
func (c *call) kernel(w windowSpec, in, out int) tensor.Tensor {
	var t tensor.Tensor
	kh, kw := w.two().kernel[0], w.two().kernel[1]
	switch {
	case c.major == 1 && c.first:
		t = c.weight("kernel", out, in, kh, kw)
	case c.major == 1 && len(w.kernel) == 1:
		t = c.weight("kernel", kw, 1, in, out)
		t = permuted(t, []int{3, 2, 1, 0})
	case len(w.kernel) == 1:
		t = c.weight("kernel", kw, in, out)
		t = permuted(t.Reshape(append([]int{1}, t.Shape...)...), []int{3, 2, 0, 1})
	default:
		t = permuted(c.weight("kernel", kh, kw, in, out), []int{3, 2, 0, 1})
	}
	if c.flip {
		mirrored(t, 2)
	}
	return t
}

// convolve adds a convolution of an image with a kernel [out, in/groups, kh, kw].
func (c *call) convolve(suffix string, x graph.Value, w windowSpec, size []int, groups int,
	kernel, bias graph.Value) graph.Value {
	w = w.two()
	pad := c.padding(w, size)
	return c.node(graph.Conv, suffix, []graph.Value{x, kernel, bias},
		"stride", w.stride, "pad", pad, "dilation", w.dilation, "groups", groups)
}

func conv1D(c *call) flow { return convolution(c, 1) }

func conv2D(c *call) flow { return convolution(c, 2) }

func convolution(c *call, axes int) flow {
	x := c.channelsFirst(c.operand())
	w := c.windowOf(axes, "kernel_size")
	channels, size := c.spatialSize(x)
	groups, filters := c.int("groups", 1), c.count("filters", 0)
	if groups < 1 || channels%groups != 0 {
		return c.fail("%d channels in %d groups", channels, groups)
	}
	image := c.toImage(x)
	kernel := c.declare("kernel", graph.Weight, c.kernel(w, channels/groups, filters))
	v := c.convolve("", image, w, size, groups, kernel, c.bias(filters))
	return c.activated(c.fromImage(v, axes))
}

// depthwise adds a depthwise convolution with a kernel (kh, kw, in, multiplier). Output
// channel c*multiplier+m reads channel c.
func depthwise(c *call) flow {
	x := c.channelsFirst(c.operand())
	w := c.windowOf(2, "kernel_size")
	channels, size := c.spatialSize(x)
	many := c.count("depth_multiplier", 1)
	kernel := c.declare("depthwise_kernel", graph.Weight, c.depthKernel(w, channels, many))
	v := c.convolve("", x.v, w, size, channels, kernel, c.bias(channels*many))
	return c.activated(c.shaped(v))
}

// depthKernel loads a depthwise kernel as [in*multiplier, 1, kh, kw]. Keras on Theano
// flipped it before the convolution, so it is already the kernel of a correlation.
func (c *call) depthKernel(w windowSpec, channels, multiplier int) tensor.Tensor {
	if c.major == 1 && c.first {
		c.fail("kernels of Keras 1 with channels first are not supported")
	}
	t := permuted(c.weight("depthwise_kernel", w.kernel[0], w.kernel[1], channels, multiplier), []int{2, 3, 0,
		1})
	return t.Reshape(t.Shape[0]*t.Shape[1], 1, t.Shape[2], t.Shape[3])
}

// separable makes a depthwise convolution without bias, followed by a 1x1 convolution.
func separable(c *call) flow {
	x := c.channelsFirst(c.operand())
	w := c.windowOf(2, "kernel_size")
	channels, size := c.spatialSize(x)
	many, filters := c.count("depth_multiplier", 1), c.count("filters", 0)
	deep := c.declare("depthwise_kernel", graph.Weight, c.depthKernel(w, channels, many))
	v := c.convolve(".depthwise", x.v, w, size, channels, deep, graph.None)
	t := permuted(c.weight("pointwise_kernel", 1, 1, channels*many, filters), []int{3, 2, 0, 1})
	point := c.declare("pointwise_kernel", graph.Weight, t)
	v = c.node(graph.Conv, "", []graph.Value{v, point, c.bias(filters)})
	return c.activated(c.shaped(v))
}

// convTranspose adds a transposed convolution. With the padding "same" its result has
// n*stride elements along an axis of n. With "valid" it has all elements that a window
// reaches.
func convTranspose(c *call) flow {
	x := c.channelsFirst(c.operand())
	w := c.windowOf(2, "kernel_size")
	channels, _ := c.spatialSize(x)
	filters := c.count("filters", 0)
	kernel := c.declare("kernel", graph.Weight, c.rotatedKernel(w, channels, filters))
	pad, extra := make([]int, 4), make([]int, 2)
	how := c.text("padding", "valid")
	if how != "valid" && how != "same" {
		return c.fail("padding %q is not supported", how)
	}
	for a := range 2 {
		over := w.dilation[a]*(w.kernel[a]-1) + 1 - w.stride[a]
		extra[a] = max(-over, 0)
		if how == "same" {
			pad[a], pad[a+2] = max(over, 0)/2, max(over, 0)-max(over, 0)/2
		}
	}
	v := c.node(graph.ConvTranspose, "", []graph.Value{x.v, kernel, c.bias(filters)},
		"stride", w.stride, "pad", pad, "dilation", w.dilation, "output_pad", extra)
	out := c.shaped(v)
	c.checkOutput(out)
	return c.activated(out)
}

// rotatedKernel loads a kernel (kh, kw, out, in) and returns it as [in, out, kh, kw]. Keras
// 1 stores it like the kernel of a convolution.
func (c *call) rotatedKernel(w windowSpec, in, out int) tensor.Tensor {
	if c.major == 1 {
		return permuted(c.kernel(w, in, out), []int{1, 0, 2, 3})
	}
	t := permuted(c.weight("kernel", w.kernel[0], w.kernel[1], out, in), []int{3, 2, 0, 1})
	if c.flip {
		mirrored(t, 2)
	}
	return t
}

// checkOutput compares the result of a layer of Keras 1 with the shape in its
// configuration, batch first.
func (c *call) checkOutput(f flow) {
	var want []*int
	c.into("output_shape", &want, "a list of lengths")
	if len(want) == 0 || c.err != nil || c.fields.err != nil {
		return
	}
	for a, n := range want[1:] {
		if n == nil || len(f.shape) != len(want)-1 || *n != f.shape[a] {
			c.fail("output_shape is %.80s; only %v, which follows from padding, is supported", c.m["output_shape"],
				f.shape)
			return
		}
	}
}
