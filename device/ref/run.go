package ref

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Program is a loaded program.
type Program struct {
	backend backend
	program *graph.Program
	norms   map[*graph.Function]map[graph.Value]class.Norm
	kernels map[graph.Op]Kernel // kernels set by Replace
}

// Load prepares p for computation at a precision. It is for devices that compute some operations
// with the reference. The error is a *device.Refused if nodes of p cannot be run.
func Load(p *graph.Program, precision string) (*Program, error) {
	return backend{ops: Ops(), bf16: precision == device.BF16}.load(p)
}

func (b backend) load(p *graph.Program) (*Program, error) {
	if r := b.refuse(p); len(r.Nodes) > 0 {
		return nil, &r
	}
	x := &Program{backend: b, program: p}
	if b.class != "" {
		x.program, x.norms = fold(p)
	}
	return x, nil
}

// Run computes a function. It is a lifecycle.Func.
func (x *Program) Run(ctx context.Context, s lifecycle.Step, state map[string]tensor.Tensor) (
	lifecycle.Result, error) {
	f := x.frame(s, state)
	if err := f.checkMemory(); err != nil {
		return lifecycle.Result{}, err
	}
	if err := f.run(ctx); err != nil {
		return lifecycle.Result{}, invalid(err)
	}
	result := lifecycle.Result{Blocked: f.blocked, Nodes: f.took}
	for _, o := range f.fn.Outputs {
		result.Outputs = append(result.Outputs, f.result(o.Value))
	}
	for _, u := range f.fn.Updates {
		result.Updates = append(result.Updates, f.result(u.Value))
	}
	return result, nil
}

// frame returns the frame of a step, with state and inputs set.
func (x *Program) frame(s lifecycle.Step, state map[string]tensor.Tensor) *frame {
	fn := x.program.Function(s.Function) // with folded batch norms if the definitions of a class are computed
	f := newFrame(fn, s.Rows)
	if s.Group != nil {
		f.group = *s.Group
	}
	f.step, f.bf16, f.class, f.norms = s.Number, x.backend.bf16, x.backend.class, x.norms[fn]
	f.kernels = x.kernels
	if s.Profile {
		f.took = make([]time.Duration, len(fn.Nodes))
	}
	for v, variable := range fn.Values {
		if variable.State != "" {
			f.values[v] = fromTensor(variable.Type, 1, state[variable.State])
		}
	}
	for i, v := range fn.Inputs {
		f.values[v] = fromTensor(fn.Values[v].Type, f.lead(fn.Values[v].Type.Kind), s.Inputs[i])
		f.values[v].round(f.bf16)
	}
	return f
}

// invalid gives the kind Invalid to an error that has no kind yet. Such an error of a run is a
// disagreement of members, or is due to invalid values of operands.
func invalid(err error) error {
	if device.KindOf(device.Wrap("", "", err)) != device.Other {
		return err
	}
	return lifecycle.Errorf(device.Invalid, "%w", err)
}
