package devicetest

import (
	"context"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
)

type rendezvousKey struct{}

// WithRendezvous returns a context that makes the devices of a group exchange data through r,
// without the host, if they have level coll.shm/1. Otherwise they exchange data through this
// process.
func WithRendezvous(ctx context.Context, r device.Rendezvous) context.Context {
	return context.WithValue(ctx, rendezvousKey{}, r)
}

// join opens the rendezvous at which the group exchanges data without the host, before its
// first device joins.
func (g *testGroup) join(ctx context.Context, d device.Device) (err error) {
	r, ok := ctx.Value(rendezvousKey{}).(device.Rendezvous)
	several := len(g.replicas) > 1 && g.machines == nil
	if ok && g.memory == nil && several && slices.Contains(d.Info().Levels, device.CollShm) {
		g.memory, err = r.Meet(device.CollShm, 1, len(g.replicas))
	}
	return err
}

// abort ends the group.
func (g *testGroup) abort(cause error) {
	g.hub.Abort(cause)
	if g.memory != nil {
		g.memory.Abort(cause)
	}
}

// wait returns when a member waits in an exchange, or ctx ends.
func (g *testGroup) wait(ctx context.Context) {
	for g.hub.Missing() == nil && (g.memory == nil || g.memory.Missing() == nil) && ctx.Err() == nil {
		time.Sleep(100 * time.Microsecond)
	}
}
