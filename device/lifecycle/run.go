package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Run implements device.Executable.
func (x *Executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	call := "Run " + s.Function
	ctx, done, err := x.begin(ctx, call)
	if err != nil {
		return device.Outcome{}, err
	}
	defer done()
	began := time.Now()
	fn, group := x.program.Function(s.Function), x.device.group
	if err := s.Check(fn, x.capacity, group.LocalReplicas()); err != nil {
		return device.Outcome{}, x.device.invalid(call, err)
	}
	if s.Function == graph.Train {
		x.retained = false
	}
	out, err := x.runner.Run(ctx, Step{Step: s, Func: fn, Group: group})
	if err != nil {
		return device.Outcome{}, device.Wrap(x.device.name, call, err)
	}
	if s.Function == graph.Train {
		x.retained = true
	}
	out.Took = time.Since(began)
	return out, nil
}

// Commit implements device.Executable.
func (x *Executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	const call = "Commit"
	ctx, done, err := x.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	if x.version == v+1 {
		return nil
	}
	s, err := x.commit(v, h)
	if err != nil {
		return x.device.invalid(call, err)
	}
	err = device.Wrap(x.device.name, call, x.runner.Commit(ctx, s))
	x.retained = errors.Is(err, device.Canceled)
	if err == nil {
		x.version++
	}
	return err
}

// commit returns the step of Commit(v), or why there can be none.
func (x *Executable) commit(v device.Version, h device.Hyper) (Step, error) {
	fn := x.program.Function(graph.Commit)
	switch {
	case fn == nil:
		return Step{}, fmt.Errorf("the program has no function %s", graph.Commit)
	case x.version != v:
		return Step{}, fmt.Errorf("version %d is to be committed, the state is at %d", v, x.version)
	case !x.retained:
		return Step{}, problem.Advise("run "+graph.Train+" first", "nothing is kept for version %d", v)
	}
	inputs, err := x.inputs(fn, h)
	return Step{Step: device.Step{Function: graph.Commit, Inputs: inputs}, Func: fn, Group: x.device.group}, err
}

// inputs returns the inputs of graph.Commit in order: its hyper-parameters, and zero Tensors for
// those that graph.Train keeps.
func (x *Executable) inputs(fn *graph.Function, h device.Hyper) ([]tensor.Tensor, error) {
	retained := map[string]bool{}
	if train := x.program.Function(graph.Train); train != nil {
		for _, o := range train.Outputs {
			retained[o.Name] = o.Keep
		}
	}
	inputs := make([]tensor.Tensor, len(fn.Inputs))
	for i, id := range fn.Inputs {
		v := fn.Values[id]
		if retained[v.Name] {
			continue
		}
		number, ok := h[v.Name]
		switch {
		case v.Type.DType != tensor.F32:
			return nil, fmt.Errorf("input %s is %v, hyper-parameters are %v", v.Name, v.Type.DType, tensor.F32)
		case !ok:
			return nil, fmt.Errorf("hyper-parameter %s is missing", v.Name)
		}
		inputs[i] = tensor.Scalar(number)
	}
	return inputs, nil
}
