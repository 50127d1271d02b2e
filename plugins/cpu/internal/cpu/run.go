package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
)

// Run implements lifecycle.Runner.
func (r *runner) Run(ctx context.Context, s lifecycle.Step) (device.Outcome, error) {
	return r.backend.machine.Run(ctx, r.memory, r.functions[s.Function], s)
}

// Commit implements lifecycle.Runner. It fails only if an update is not finite.
func (r *runner) Commit(ctx context.Context, s lifecycle.Step) error {
	return r.backend.machine.Commit(ctx, r.memory, r.functions[graph.Commit], s)
}
