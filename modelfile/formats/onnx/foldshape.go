package onnx

import "github.com/bnctl/bnctl/tensor"

func foldReshape(c *call) numbers {
	n := c.numbers(0)
	target, _ := c.list("shape", 1)
	shape, err := resolve(target, n.shape, c.int("allowzero", 0) != 0)
	if err != nil {
		c.fail("%w", err)
		return n
	}
	n.shape = shape
	return n
}

func foldSqueeze(c *call) numbers {
	n := c.numbers(0)
	axes, given := c.squeezed()
	drop := make([]bool, len(n.shape))
	for a, length := range n.shape {
		drop[a] = !given && length == 1
	}
	for _, a := range axes {
		if at := c.foldAxis(a, len(n.shape)); c.err == nil {
			drop[at] = true
		}
	}
	var shape []int
	for a, length := range n.shape {
		if drop[a] && length != 1 {
			c.fail("axis %d of %v is not 1", a, n.shape)
		}
		if !drop[a] {
			shape = append(shape, length)
		}
	}
	n.shape = shape
	return n
}

// squeezed returns the axes of a Squeeze. Of an empty list ONNX Runtime's two
// halves think differently: all axes of length 1, or none.
func (c *call) squeezed() (axes []int64, given bool) {
	axes, given = c.list("axes", 1)
	if given && len(axes) == 0 {
		c.fail("with an empty list of axes, which stands for all of length 1 or for none, is not supported")
	}
	return axes, given
}

func foldUnsqueeze(c *call) numbers {
	n := c.numbers(0)
	axes, _ := c.list("axes", 1)
	rank := len(n.shape) + len(axes)
	if rank > tensor.MaxRank {
		c.fail("a result of rank %d", rank)
	}
	if c.err != nil {
		return n
	}
	shape := make([]int, rank)
	for _, a := range axes {
		if at := c.foldAxis(a, rank); c.err == nil {
			shape[at]++
		}
	}
	rest := n.shape
	for a := range shape {
		switch {
		case shape[a] > 1:
			c.fail("axes are %v", axes)
		case shape[a] == 0 && len(rest) > 0:
			shape[a], rest = rest[0], rest[1:]
		}
	}
	n.shape = shape
	return n
}
