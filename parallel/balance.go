package parallel

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/device"
)

// minSpeedup is by how much a step has to become shorter for replicas to be moved.
const minSpeedup = 1.15

// Balance places the replicas anew, in proportion to how fast the devices
// were since the last call, if that makes a step clearly shorter and the
// devices have the memory for it. It reports whether it did. Results do not
// depend on it. A placement that Config pins stays, and so does that of devices
// of several kernel classes, whose results would depend on the clock, unless
// Config says BySpeed.
func (g *Group) Balance(ctx context.Context) (bool, error) {
	paces, ok := g.members.measured()
	if !ok || g.placement.Pins(len(g.members)) || g.mixed && !g.bySpeed {
		return false, nil
	}
	p := &g.placement
	ranges, err := p.BySpeed(paces, g.members.least())
	if err != nil || float64(p.LongestShare(ranges, paces)*minSpeedup) > p.LongestShare(g.members.replicas(), paces) {
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

// grow makes the members ready for a placement. A member that is lost is
// found out by the next run.
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
