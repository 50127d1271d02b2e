package keras

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// resizing interpolates pictures to a size with half-pixel centres, like TensorFlow 2
// without antialias. Nearest-neighbour interpolation is limited to results of a multiple of
// the picture's size, where the nearest pixel is unambiguous.
func resizing(c *call) flow {
	f := c.channelsFirst(c.operand())
	height, width := c.count("height", 0), c.count("width", 0)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	shape := c.graphShape(f.shape)
	if len(shape) != 3 || height < 1 || width < 1 || height > 1<<16 || width > 1<<16 {
		return c.fail("resizes a tensor of shape %v to %dx%d", f.shape, height, width)
	}
	if shape[1] == height && shape[2] == width {
		return f
	}
	mode := c.text("interpolation", "bilinear")
	switch {
	case mode == "bilinear":
	case mode == "nearest" && height%shape[1] == 0 && width%shape[2] == 0:
	default:
		return c.fail("interpolation is %.40q from %dx%d to %dx%d; bilinear is supported, and nearest to multiples",
			mode, shape[1], shape[2], height, width)
	}
	return c.shaped(c.node(graph.Upsample, "", []graph.Value{f.v}, "size", []int{height, width}, "mode", mode))
}

// centerCrop cuts out the middle of pictures and removes an odd row or column from the end.
func centerCrop(c *call) flow {
	f := c.channelsFirst(c.operand())
	height, width := c.count("height", 0), c.count("width", 0)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	shape := c.graphShape(f.shape)
	if len(shape) != 3 || height < 1 || width < 1 || height > shape[1] || width > shape[2] {
		return c.fail("crops a tensor of shape %v to %dx%d; only smaller pictures are cropped here", f.shape,
			height, width)
	}
	begin, end := make([]int, 3), slices.Clone(shape)
	begin[1], begin[2] = (shape[1]-height)/2, (shape[2]-width)/2
	end[1], end[2] = begin[1]+height, begin[2]+width
	return c.shaped(c.node(graph.Slice, "", []graph.Value{f.v}, "begin", begin, "end", end))
}
