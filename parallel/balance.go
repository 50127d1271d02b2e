package parallel

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/device"
)

// Moving a replica means regrouping, and costs memory, so small differences of speed are ignored. The
// slowest device determines the time of a step:
//
//	speeds 100 and 300 rows/s, batch 64, 8 replicas
//	evenly        4 + 4      32/100 = 0.32 s      the second waits for 0.21 s
//	by speed      2 + 6      16/100 = 0.16 s      twice as fast, more than minSpeedup

// minSpeedup is the smallest speedup of a step for which replicas are moved.
const minSpeedup = 1.15

// Balance assigns the replicas again, in proportion to the speeds of the devices measured since the
// last call. It does so only if steps become clearly shorter and the devices have enough memory, and
// reports whether it did. Results do not depend on the placement. Balance never changes a placement
// that Config sets. If the devices have several kernel classes, it moves replicas only with
// Config.BySpeed, because results then depend on measured times.
func (g *Group) Balance(ctx context.Context) (bool, error) {
	paces, ok := g.members.measured()
	if !ok || g.fixed || g.placement.Pins(len(g.members)) || g.mixed && !g.bySpeed {
		return false, nil
	}
	p := &g.placement
	ranges, err := p.BySpeed(paces, g.members.least())
	now := p.LongestShare(g.members.replicas(), paces)
	if err != nil || float64(p.LongestShare(ranges, paces)*minSpeedup) > now {
		return false, err
	}
	if err := g.grow(ctx, ranges); err != nil {
		if errors.Is(err, device.OutOfMemory) {
			err = nil
		}
		return false, err
	}
	for i, m := range g.members {
		m.pace.speed = paces[i]
	}
	g.stale = true
	return true, g.assign()
}

// grow makes the members allocate the memory that they need for a placement. It ignores lost
// members, because the next run discovers them.
func (g *Group) grow(ctx context.Context, ranges [][]int) error {
	capacities := g.placement.Capacities(ranges)
	for i, m := range g.members {
		err := g.timeouts.call(m, func() error { return m.exe.Grow(ctx, capacities[i]) })
		var l *lost
		if err != nil && (errors.Is(err, device.OutOfMemory) || !errors.As(err, &l)) {
			return m.named(err)
		}
	}
	return nil
}
