package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		// storage_order affects the indices, which are refused
		"MaxPool": {attributes: accept(1, windowAttributes+" ceil_mode", "storage_order"),
			refused: "the second result, indices, where something takes it; volumes, unless the window is one " +
				"element of the first axis or of the other two", make: oneResult(pool), integers: move,
			bytes: withoutDilations, traits: needsBatch},
		"AveragePool": {attributes: accept(1, windowAttributes+" ceil_mode count_include_pad"),
			refused: "dilations above 1; volumes, unless the window is one element of the first axis or of the " +
				"other two", make: oneResult(pool), traits: needsBatch},
		"LpPool": {attributes: accept(1, windowAttributes+" ceil_mode p"),
			refused: "dilations above 1; p below 1", make: oneResult(lpPool),
			traits: needsBatch},
		"GlobalMaxPool":     {attributes: accept(1, ""), make: oneResult(globalPool), traits: needsBatch},
		"GlobalAveragePool": {attributes: accept(1, ""), make: oneResult(globalPool), traits: needsBatch},
	})
}

// pool reads MaxPool and AveragePool.
func pool(c *call) graph.Value {
	s := c.Shape(0)
	if len(s) != 4 {
		s = c.SpatialShape(0)
	}
	w, count := readPoolWindow(c, s)
	if len(s) == 4 && c.Err == nil {
		return makeVolumePool(c, s, w, count)
	}
	return addPool(c, "", c.Dynamic(0), s, w, count)
}

// makeVolumePool adds a pool over three axes. Its window has one element along the first axis, or
// along the other two: PyTorch writes local_response_norm as an average over channels.
func makeVolumePool(c *call, s []int, w window, count bool) graph.Value {
	merged, flat := []int{s[0] * s[1], s[2], s[3]}, w.slice(1, 3)
	if !w.isElement(0) {
		merged, flat = []int{s[0], s[1], s[2] * s[3]}, w.slice(0, 2)
		if !w.isElement(1) || !w.isElement(2) {
			c.Fail("over three axes with a kernel of %v, strides of %v and pads of %v is not supported, only "+
				"with 1, 1 and 0 in the first or in the last two", w.kernel, w.stride, w.pads())
			return graph.None
		}
	}
	x := c.node(graph.Reshape, ".image", []graph.Value{c.Dynamic(0)}, "shape", merged)
	v := addPool(c, ".pooled", x, merged, flat, count)
	if c.Err != nil || v == graph.None {
		return graph.None
	}
	to := c.g.Type(v).Shape
	shape := []int{s[0], s[1], to[1], to[2]}
	if !w.isElement(0) {
		shape = []int{s[0], to[1], s[2], s[3]}
	}
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}

// addPool adds a pool over one or two axes.
func addPool(c *call, suffix string, x graph.Value, s []int, w window, count bool) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	axes := len(s) - 1
	w = w.image()
	x = c.toImage(x, s)
	if c.Proto.OpType == "MaxPool" && slices.Max(w.dilation) > 1 {
		return c.fromImage(addDilatedMax(c, x, w), axes)
	}
	if c.Proto.OpType == "MaxPool" {
		op := graph.MaxPool
		if c.In[0].HoldsBytes() {
			op = graph.MaxPoolInt8
		}
		return c.fromImage(c.node(op, suffix, []graph.Value{x}, "kernel", w.kernel, "stride",
			w.stride, "pad", w.pads()), axes)
	}
	if count && slices.Max(w.beyond) > 0 { // the padding is added to the value as elements
		ends := []int{0, w.end[0] - w.beyond[0], w.end[1] - w.beyond[1]}
		x = c.node(graph.Pad, ".padded", []graph.Value{x}, "before", append([]int{0}, w.begin...), "after", ends)
		w.begin, w.end, count = []int{0, 0}, w.beyond, false
	}
	v := c.node(graph.AvgPool, suffix, []graph.Value{x}, "kernel", w.kernel, "stride", w.stride, "pad", w.pads(),
		"count_pad", count && slices.Max(w.pads()) > 0)
	return c.fromImage(v, axes)
}

// readPoolWindow reads the window of a MaxPool or an average pool. count reports whether padding
// counts as elements.
func readPoolWindow(c *call, s []int) (w window, count bool) {
	axes := len(s) - 1
	w = c.window(c.Ints("kernel_shape", axes, 1), s[1:])
	if slices.Max(w.dilation) > 1 && c.Proto.OpType != "MaxPool" {
		c.Fail("with dilations %v is not supported", w.dilation)
	}
	if c.Attribute("kernel_shape") == nil {
		c.Fail("without kernel_shape is not supported")
	}
	if c.Proto.OpType == "MaxPool" && len(c.Proto.Output) > 1 && len(c.readersOf(c.Proto.Output[1])) > 0 {
		c.Fail("with indices is not supported")
	}
	count = c.Proto.OpType != "MaxPool" && c.Int("count_include_pad", 0) != 0
	if c.Int("ceil_mode", 0) != 0 && c.Err == nil {
		w.roundUp(s[1:])
	}
	return w, count
}

// maxTaps is the maximum number of elements in a window that is computed one element at a
// time.
const maxTaps = 256

// addDilatedMax adds a MaxPool with dilations: the maximum of shifted images, one for each
// position of the window.
func addDilatedMax(c *call, x graph.Value, w window) graph.Value {
	if w.kernel[0]*w.kernel[1] > maxTaps {
		c.Fail("with a kernel of %v and dilations is not supported", w.kernel)
		return graph.None
	}
	if slices.Max(w.pads()) > 0 {
		x = c.node(graph.Pad, ".padded", []graph.Value{x}, "before", []int{0, w.begin[0], w.begin[1]}, "after",
			[]int{0, w.end[0], w.end[1]}, "value", -math.MaxFloat32)
	}
	if c.Err != nil || x == graph.None {
		return graph.None
	}
	s, largest := c.g.Type(x).Shape, graph.None
	if s[1] < w.span(0) || s[2] < w.span(1) {
		c.Fail("of windows that are larger than the image")
		return graph.None
	}
	for k := range w.kernel[0] * w.kernel[1] {
		begin, end := []int{0, k / w.kernel[1] * w.dilation[0], k % w.kernel[1] * w.dilation[1]}, []int{s[0]}
		for a := range 2 {
			end = append(end, begin[a+1]+(s[a+1]-w.span(a))/w.stride[a]*w.stride[a]+1)
		}
		v := c.node(graph.Slice, ".tap", []graph.Value{x}, "begin", begin, "end", end, "step",
			[]int{1, w.stride[0], w.stride[1]})
		if largest != graph.None {
			v = c.node(graph.Max, ".largest", []graph.Value{largest, v})
		}
		largest = v
	}
	return largest
}

// roundUp pads the end of each axis for ceil_mode: a window that begins inside the image and
// ends outside counts.
func (w *window) roundUp(size []int) {
	for a, n := range size {
		extent := n + w.begin[a] + w.end[a] - w.span(a)
		windows := node.Ceil(extent, w.stride[a])
		begins := windows*w.stride[a] < n+w.begin[a] // the last window must begin before the padding at the end
		if more := windows*w.stride[a] - extent; extent > 0 && more > 0 && begins {
			w.end[a] += more
			w.beyond[a] = more
		}
	}
}

// globalPool reads GlobalMaxPool and GlobalAveragePool.
func globalPool(c *call) graph.Value {
	s := c.SpatialShape(0)
	if c.Err != nil {
		return graph.None
	}
	x := []graph.Value{c.toImage(c.Dynamic(0), s)}
	if c.Proto.OpType == "GlobalAveragePool" {
		return c.fromImage(c.node(graph.GlobalAvgPool, "", x), len(s)-1)
	}
	kernel := c.g.Type(x[0]).Shape
	if len(kernel) != 3 {
		return graph.None
	}
	return c.fromImage(c.node(graph.MaxPool, "", x, "kernel", kernel[1:], "stride", kernel[1:]), len(s)-1)
}

// lpPool computes the p-th root of the sum of p-th powers in each window. The sum is the mean, counting
// the padding, times the size of the window.
func lpPool(c *call) graph.Value {
	s, p := c.SpatialShape(0), c.Int("p", 2)
	axes := len(s) - 1
	w := c.window(c.Ints("kernel_shape", axes, 1), s[1:])
	if p < 1 || slices.Max(w.dilation) > 1 || c.Attribute("kernel_shape") == nil {
		c.Fail("with p=%d and dilations %v is not supported", p, w.dilation)
	}
	if c.Int("ceil_mode", 0) != 0 && c.Err == nil {
		w.roundUp(s[1:])
	}
	if c.Err != nil {
		return graph.None
	}
	w = w.image()
	sum := func(suffix string, x graph.Value) graph.Value {
		v := c.node(graph.AvgPool, ".mean"+suffix, []graph.Value{c.toImage(x, s)}, "kernel", w.kernel,
			"stride", w.stride, "pad", w.pads(), "count_pad", slices.Max(w.pads()) > 0)
		return c.node(graph.Affine, ".sum"+suffix, []graph.Value{v}, "by", float64(w.kernel[0]*w.kernel[1]))
	}
	switch p {
	case 1:
		return c.fromImage(sum("", makeAbsolute(c, ".size")), axes)
	case 2:
		return c.fromImage(norm{p, ".squares", ".root", sum}.add(c, c.Dynamic(0)), axes)
	}
	return c.fromImage(norm{p, ".powers", ".root", sum}.add(c, makeAbsolute(c, ".size")), axes)
}
