package run

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// epilogue is what is done to the result of the current node before it is written.
type epilogue struct {
	Plus *Value // is added; nil without one
	relu bool
	most float32
}

// Epilogue returns the epilogue of the current node, whose last operand is the value
// to add if there is one.
func (c *Compiler) Epilogue() epilogue {
	j := c.Fn.Joined[c.Node.Out[0]]
	e := epilogue{relu: j.Relu, most: j.Most}
	if j.Plus {
		e.Plus = c.In(len(c.Node.In) - 1)
	}
	return e
}

// Row returns the epilogue of row i.
func (e *epilogue) Row(f *Frame, w *Worker, i int) kernel.Epilogue {
	end := kernel.Epilogue{Relu: e.relu, Most: e.most}
	if e.Plus != nil {
		end.Plus = f.At(e.Plus, w, i)
	}
	return end
}

// Half returns the epilogue of row i from element at on, if what is added is a half.
func (e *epilogue) Half(f *Frame, w *Worker, i, at int) kernel.HalfEpilogue {
	end := kernel.HalfEpilogue{Relu: e.relu, Most: e.most}
	if e.Plus != nil {
		end.Plus = f.Half(e.Plus, w, i)[at:]
	}
	return end
}

// Rows returns the epilogue of all rows.
func (e *epilogue) Rows(f *Frame) kernel.Epilogue {
	end := kernel.Epilogue{Relu: e.relu, Most: e.most}
	if e.Plus != nil {
		end.Plus = f.F32(e.Plus)
	}
	return end
}
