package run

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// ending is what is done to the result of the current node before it is written.
type ending struct {
	Plus *Value // is added; nil without one
	relu bool
	most float32
}

// Ending returns the ending of the current node, whose last operand is the value
// to add if there is one.
func (c *Compiler) Ending() ending {
	j := c.Fn.Joined[c.Node.Out[0]]
	e := ending{relu: j.Relu, most: j.Most}
	if j.Plus {
		e.Plus = c.In(len(c.Node.In) - 1)
	}
	return e
}

// Row returns the ending of row i.
func (e *ending) Row(f *Frame, w *Worker, i int) kernel.Ending {
	end := kernel.Ending{Relu: e.relu, Most: e.most}
	if e.Plus != nil {
		end.Plus = f.At(e.Plus, w, i)
	}
	return end
}

// Half returns the ending of row i from element at on, if what is added is a half.
func (e *ending) Half(f *Frame, w *Worker, i, at int) kernel.HalfEnding {
	end := kernel.HalfEnding{Relu: e.relu, Most: e.most}
	if e.Plus != nil {
		end.Plus = f.Half(e.Plus, w, i)[at:]
	}
	return end
}

// Rows returns the ending of all rows.
func (e *ending) Rows(f *Frame) kernel.Ending {
	end := kernel.Ending{Relu: e.relu, Most: e.most}
	if e.Plus != nil {
		end.Plus = f.F32(e.Plus)
	}
	return end
}
