package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"CenterCropPad": {attributes: accept(2, "axes"), refused: "a shape that is not constant",
			make: oneResult(centerCropPad), integers: moveNumbers},
		"Col2Im": {attributes: accept(3, "dilations pads strides"),
			refused: "shapes that are not constant; volumes", make: oneResult(col2Im)},
	})
}

// centerCropPad crops axes that are too long: by the same number of elements at both ends, or one fewer
// at the front. It pads axes that are too short with zeros.
func centerCropPad(c *call) graph.Value {
	s := c.Shape(0)
	wanted, _ := c.List("shape", 1)
	axes := element.Indices(c.Rank(0))
	if a := c.Attribute("axes"); a != nil {
		axes = c.Ints("axes", len(a.Ints), 0)
	}
	if c.Err == nil && len(axes) != len(wanted) {
		c.Fail("to %s of %d axes", element.Printed(wanted), len(axes))
	}
	begin, end := make([]int, len(s)), slices.Clone(s)
	before, after := make([]int, len(s)), make([]int, len(s))
	for i, a := range axes {
		if c.Err != nil {
			return graph.None
		}
		n := wanted[i]
		first := !c.Unbatched && (a == 0 || a == -c.Rank(0))
		if first && (n == element.AnyBatch || c.Batch > 0 && n == c.Batch) {
			continue
		}
		at := c.Axis(int64(a), len(s))
		if n = c.Concrete(n); c.Err == nil && (n < 1 || n > 1<<30) {
			c.Fail("to %s", element.Printed(wanted))
		}
		if c.Err != nil {
			return graph.None
		}
		if more := int(n) - s[at]; more > 0 {
			before[at], after[at] = more/2, more-more/2
		} else {
			begin[at] = -more / 2
			end[at] = begin[at] + int(n)
		}
	}
	v := c.node(graph.Slice, ".cropped", []graph.Value{c.Dynamic(0)}, "begin", begin, "end", end)
	return c.node(graph.Pad, "", []graph.Value{v}, "before", before, "after", after)
}

// col2Im adds blocks of pixels into an image. It is a transposed convolution with kernels that are
// 1 at one position.
func col2Im(c *call) graph.Value {
	s := c.Shape(0)
	size, _ := c.List("image_shape", 1)
	block, _ := c.List("block_shape", 2)
	if c.Err == nil && (len(size) != 2 || len(block) != 2 || len(s) != 2) {
		c.Fail("to an image of %s of blocks of %s is not supported, only of two axes", element.Printed(size),
			element.Printed(block))
	}
	if c.Err != nil {
		return graph.None
	}
	taps := int(max(min(block[0], maxResized), 1) * max(min(block[1], maxResized), 1))
	if min(block[0], block[1], size[0], size[1]) < 1 || s[0]%taps != 0 || max(size[0], size[1]) > maxResized {
		c.Fail("to an image of %s of blocks of %s", element.Printed(size), element.Printed(block))
		return graph.None
	}
	kernel := []int{int(block[0]), int(block[1])}
	w := window{kernel: kernel, stride: c.Ints("strides", 2, 1), dilation: c.Ints("dilations", 2, 1)}
	pads := c.Ints("pads", 4, 0)
	w.begin, w.end = pads[:2], pads[2:]
	return addBlocks(c, w, s[0]/taps, []int{int(size[0]), int(size[1])}, s[1])
}

// addBlocks does the same as col2Im for the given number of channels and of columns.
func addBlocks(c *call, w window, channels int, size []int, columns int) graph.Value {
	var count, more []int
	for a := range size {
		if w.stride[a] < 1 || w.dilation[a] < 1 || min(w.begin[a], w.end[a]) < 0 {
			c.Fail("strides %v, dilations %v, pads %v", w.stride, w.dilation, w.pads())
			return graph.None
		}
		extent := size[a] + w.begin[a] + w.end[a] - w.span(a)
		if extent < 0 {
			c.Fail("of blocks that are larger than the image")
			return graph.None
		}
		count, more = append(count, extent/w.stride[a]+1), append(more, extent%w.stride[a])
	}
	taps := w.kernel[0] * w.kernel[1]
	if count[0]*count[1] != columns {
		c.Fail("has %d columns, want %d", columns, count[0]*count[1])
		return graph.None
	}
	ones := c.NewConstant(tensor.F32, []int{channels * taps, 1, w.kernel[0], w.kernel[1]})
	if c.Err != nil {
		return graph.None
	}
	for k := range channels * taps {
		ones.F32()[k*taps+k%taps] = 1
	}
	x := c.node(graph.Reshape, ".blocks", []graph.Value{c.Dynamic(0)}, "shape",
		[]int{channels * taps, count[0], count[1]})
	in := []graph.Value{x, c.declare(c.Proto.Output[0]+".blocks", graph.Constant, ones), graph.None}
	return c.node(graph.ConvTranspose, "", in, "stride", w.stride, "pad", w.pads(), "dilation", w.dilation,
		"groups", channels, "output_pad", more)
}
