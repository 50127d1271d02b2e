package gpu

import (
	"context"

	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
)

// Commit implements lifecycle.Runner. It ignores the end of ctx, because it updates the state in place.
func (e *executable) Commit(ctx context.Context, s lifecycle.Step) error {
	fn := e.functions[graph.Commit]
	if err := e.start(context.WithoutCancel(ctx), s).run(fn, s.Inputs); err != nil {
		return err
	}
	if err := e.update(fn); err != nil {
		return err
	}
	return e.checkUpdates(fn)
}

// update copies the results of the function to the state.
func (e *executable) update(fn *function) error {
	for _, u := range fn.Updates {
		s, v := e.states[u.State], fn.values[u.Value]
		if s == v.state || s.size() == 0 {
			continue
		}
		if err := e.backend.driver.Copy(s.buffer, v.buffer(), s.size()); err != nil {
			return err
		}
		s.stamp++
	}
	return nil
}
