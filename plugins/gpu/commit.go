package gpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Commit makes version v+1 of version v.
func (e *Executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	const call = "Commit"
	ctx, done, err := e.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	fn := e.functions[graph.Commit]
	switch {
	case e.version == v+1:
		return nil
	case fn == nil:
		return e.device.fail(call, device.Invalid, "the program has no function %s", graph.Commit)
	}
	if err := e.lastKept.Check(v, e.version); err != nil {
		return e.device.fail(call, device.Invalid, "%w", err)
	}
	inputs, err := h.Inputs(e.program)
	if err != nil {
		return e.device.fail(call, device.Invalid, "%w", err)
	}
	if err := e.start(context.WithoutCancel(ctx), nil).run(fn, inputs); err != nil {
		return e.device.wrap(call, err)
	}
	if err := e.update(fn); err != nil {
		return e.device.wrap(call, err)
	}
	e.lastKept.Has = false
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
