package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// ending is what is done to the result of the current node before it is written.
type ending struct {
	plus *value // is added; nil without one
	relu bool
	most float32
}

// ending returns the ending of the current node, whose last operand is the value
// to add if there is one.
func (c *compiler) ending() ending {
	j := c.fn.joined[c.node.Out[0]]
	e := ending{relu: j.relu, most: j.most}
	if j.plus {
		e.plus = c.in(len(c.node.In) - 1)
	}
	return e
}

// row returns the ending of row i.
func (e *ending) row(f *frame, w *worker, i int) kernel.Ending {
	end := kernel.Ending{Relu: e.relu, Most: e.most}
	if e.plus != nil {
		end.Plus = f.at(e.plus, w, i)
	}
	return end
}

// half returns the ending of row i from element at on, if what is added is a half.
func (e *ending) half(f *frame, w *worker, i, at int) kernel.HalfEnding {
	end := kernel.HalfEnding{Relu: e.relu, Most: e.most}
	if e.plus != nil {
		end.Plus = f.half(e.plus, w, i)[at:]
	}
	return end
}

// rows returns the ending of all rows.
func (e *ending) rows(f *frame) kernel.Ending {
	end := kernel.Ending{Relu: e.relu, Most: e.most}
	if e.plus != nil {
		end.Plus = f.f32(e.plus)
	}
	return end
}
