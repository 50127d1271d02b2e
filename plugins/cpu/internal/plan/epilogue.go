package plan

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Epilogue is applied to the result of a node before it is written. It consists of later
// nodes that were fused with the node.
type Epilogue struct {
	Plus *run.Value // value that is added; nil if there is none
	relu bool
	high float32
}

// Epilogue returns the epilogue of the node. The value to add, if there is one, is the
// node's last operand.
func (c *Compiler) Epilogue() Epilogue {
	f := c.fused[c.Node().Out[0]]
	e := Epilogue{relu: f.Relu, high: f.Most}
	if f.Plus {
		e.Plus = c.In(len(c.Node().In) - 1)
	}
	return e
}

// Row returns the epilogue of row i.
func (e *Epilogue) Row(f *run.Frame, w *run.Worker, i int) kernel.Epilogue {
	end := kernel.Epilogue{Relu: e.relu, Most: e.high}
	if e.Plus != nil {
		end.Plus = f.At(e.Plus, w, i)
	}
	return end
}

// Half returns the epilogue of row i from element start on, if the value to add is a half.
func (e *Epilogue) Half(f *run.Frame, w *run.Worker, i, start int) kernel.HalfEpilogue {
	end := kernel.HalfEpilogue{Relu: e.relu, Most: e.high}
	if e.Plus != nil {
		end.Plus = f.Half(e.Plus, w, i)[start:]
	}
	return end
}

// Rows returns the epilogue of all rows.
func (e *Epilogue) Rows(f *run.Frame) kernel.Epilogue {
	end := kernel.Epilogue{Relu: e.relu, Most: e.high}
	if e.Plus != nil {
		end.Plus = f.F32(e.Plus)
	}
	return end
}
