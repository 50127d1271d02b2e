package parallel

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/device"
)

// Moving a replica means regrouping, and costs memory, so small differences are ignored.
// The slowest device determines the time of a step:
//
//	speeds 100 and 300 rows/s, batch 64, 8 replicas
//	evenly        4 + 4      32/100 = 0.32 s      the second waits for 0.21 s
//	by speed      2 + 6      16/100 = 0.16 s      twice as fast, more than minSpeedup

// minSpeedup is the smallest speedup of a step for which replicas are moved.
const minSpeedup = 1.15

// Balance assigns the replicas again, in proportion to the measured speeds of the devices
// since the last call, if steps become clearly shorter and the devices have enough memory.
// It reports whether it did. Results do not depend on it. A placement that Config pins
// stays. So does a placement on devices of several kernel classes, because results would
// depend on the clock, unless Config.BySpeed is set.
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

// grow prepares the members for a placement. The next run discovers a lost member.
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
