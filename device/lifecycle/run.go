package lifecycle

import (
	"cmp"
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
	if err := cmp.Or(s.Check(x.program, x.capacity, x.device.group.LocalReplicas()),
		checkStage(s, x.device.group)); err != nil {
		return device.Outcome{}, x.device.invalid(call, err)
	}
	if s.Function == graph.Train || s.Function == graph.Backward {
		x.retained = false
	}
	out, err := x.run(ctx, s)
	if err != nil {
		return device.Outcome{}, device.Wrap(x.device.name, call, err)
	}
	if s.Function == graph.Train || s.Function == graph.Reduce || x.stage.last(s.Function) {
		x.retained = true
	}
	out.Took = time.Since(began)
	return out, nil
}

// run runs a step that was checked.
func (x *Executable) run(ctx context.Context, s device.Step) (device.Outcome, error) {
	step := Step{Step: s, Func: x.runnable.Function(s.Function), Group: x.device.group}
	if x.stage == nil {
		return x.runner.Run(ctx, step)
	}
	fn := x.program.Function(s.Function)
	if s.Function == graph.Reduce {
		return x.stage.reduce(ctx, fn, step, x.runner)
	}
	var err error
	if step.Inputs, err = x.stage.inputs(fn, s); err != nil {
		return device.Outcome{}, err
	}
	if !fn.Reduces() { // without exchanges the run may have only some replicas of the group
		step.Group = nil
	}
	if s.Function == graph.Backward {
		x.stage.again()
		step.Onto = x.stage.onto(numbered(s, x.device.group), s.Rows)
	}
	out, err := x.runner.Run(ctx, step)
	switch {
	case err != nil && len(step.Onto) > 0: // the replica may have been added to some of the sums only
		x.stage.drop()
	case err == nil && (s.Function == graph.Forward || s.Function == graph.Backward):
		err = x.stage.keep(fn, step, x.device.group, &out)
	}
	return out, err
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
		x.stage.committed()
	}
	return err
}

// commit returns the step of Commit(v), or the reason why it cannot run.
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
	return Step{Step: device.Step{Function: graph.Commit, Inputs: inputs},
		Func: x.runnable.Function(graph.Commit), Group: x.device.group}, err
}

// inputs returns the inputs of graph.Commit in order: its hyper-parameters, the values that
// a stage keeps, and zero Tensors for the inputs that graph.Train keeps.
func (x *Executable) inputs(fn *graph.Function, h device.Hyper) ([]tensor.Tensor, error) {
	retained := x.program.Retained(graph.Commit)
	inputs := make([]tensor.Tensor, len(fn.Inputs))
	for i, id := range fn.Inputs {
		v := fn.Values[id]
		if _, ok := retained[v.Name]; ok {
			if x.stage != nil {
				inputs[i] = x.stage.sums[v.Name]
			}
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
