package onnx

import "github.com/bnctl/bnctl/tensor"

// foldConstant is asked only for what is no numbers: those are kept when the
// file is opened.
func foldConstant(c *call) numbers {
	c.fail("its value is text")
	return numbers{}
}

func foldConstantOfShape(c *call) numbers {
	shape, err := lengths(tensor.I64, c.numbers(0).i)
	if err != nil {
		c.fail("%w", err)
	}
	one := numbers{f: []float32{0}}
	if a := c.attribute("value"); a != nil && a.T != nil {
		t, err := load(a.T)
		if err == nil {
			one, err = toNumbers(t)
		}
		if err != nil || t.Count() != 1 {
			c.fail("its value is not one number")
		}
	}
	if c.err != nil || !c.takes(one.dtype(), shape) {
		return numbers{}
	}
	return one.picked(shape, func([]int) int { return 0 })
}

// foldShape gives the shape of a value; the batch stays open, also where the
// file fixes it.
func foldShape(c *call) numbers {
	if !c.has(0) {
		c.fail("has no operand")
		return numbers{}
	}
	var all []int64
	if x := c.in[0]; x.isConstant() {
		all = widened(x.c.Shape)
	} else {
		if all = widened(c.shapeOf(x)); !x.bare {
			all = append([]int64{anyBatch}, all...)
		}
	}
	from, to := c.int("start", 0), c.int("end", len(all))
	if from < 0 {
		from += len(all)
	}
	if to < 0 {
		to += len(all)
	}
	from, to = min(max(from, 0), len(all)), min(max(to, 0), len(all))
	all = all[from:max(from, to)]
	return numbers{shape: []int{len(all)}, i: append([]int64{}, all...)}
}
