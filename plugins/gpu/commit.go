package gpu

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Commit makes version v+1 of version v.
func (e *Executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	const call = "Commit"
	end, err := e.begin(ctx, call)
	if err != nil {
		return err
	}
	defer end()
	fn := e.functions[graph.Commit]
	switch {
	case e.version == v+1:
		return nil
	case fn == nil:
		return e.device.fail(call, device.Invalid, "the program has no function %s", graph.Commit)
	case e.version != v:
		return e.device.fail(call, device.Invalid, "version %d is to be committed, the state is at %d", v,
			e.version)
	case !e.hasKept || e.keptFor != v:
		return e.device.fail(call, device.Invalid, "%w",
			problem.Advise("run "+graph.Train+" first", "nothing is kept for version %d", v))
	}
	inputs, err := e.hyper(fn, h)
	if err != nil {
		return e.device.fail(call, device.Invalid, "%w", err)
	}
	if err := e.start(context.WithoutCancel(ctx), nil).run(fn, inputs); err != nil {
		return e.device.wrap(call, err)
	}
	if err := e.update(fn); err != nil {
		return e.device.wrap(call, err)
	}
	e.hasKept = false
	if err := e.checkUpdates(fn); err != nil {
		return err
	}
	e.version = v + 1
	return nil
}

// update copies what the function made to the state.
func (e *Executable) update(fn *function) error {
	for _, u := range fn.Updates {
		s, v := e.states[u.State], fn.values[u.Value]
		if s == v.state || s.size() == 0 {
			continue
		}
		if err := e.device.driver.Copy(s.buffer, v.buffer(), s.size()); err != nil {
			return err
		}
		s.stamp++
	}
	return nil
}

// hyper returns the inputs of commit; those that train keeps stay empty.
func (e *Executable) hyper(fn *function, h device.Hyper) ([]tensor.Tensor, error) {
	inputs := make([]tensor.Tensor, len(fn.Inputs))
	for i, id := range fn.Inputs {
		v := fn.values[id]
		if e.kept[v.name] != nil {
			continue
		}
		x, ok := h[v.name]
		if !ok {
			return nil, fmt.Errorf("hyper-parameter %s is missing", v.name)
		}
		inputs[i] = tensor.Scalar(x)
	}
	return inputs, nil
}
