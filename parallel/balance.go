package parallel

import (
	"context"
	"errors"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// pace is how fast a device trains.
type pace struct {
	rows  int           // since the last Balance
	busy  time.Duration // with them, not waiting for others
	speed float64       // rows per second that the device is placed by; 0: not known
	times int           // that it was measured
}

// add counts a run of f on replicas of a batch.
func (p *pace) add(f *graph.Function, b Batch, replicas []int, o device.Outcome) {
	if f.Name != graph.Train {
		return
	}
	for _, r := range replicas {
		p.rows += b.Sizes[r]
	}
	p.busy += o.Took - o.Blocked
}

// gain is by how much a step has to become shorter for replicas to be moved.
const gain = 1.15

// Balance places the replicas anew, in proportion to how fast the devices
// were since the last call, if that makes a step clearly shorter and the
// devices have the memory for it. It reports whether it did. Results do not
// depend on it. A placement that Config pins stays, and so does that of devices
// of several kernel classes, whose results would depend on the clock, unless
// Config says BySpeed.
func (g *Group) Balance(ctx context.Context) (bool, error) {
	paces, ok := g.measured()
	if !ok || g.pinned() || g.mixed && !g.config.BySpeed {
		return false, nil
	}
	ranges, err := place(g.replicas, len(g.members), paces, g.least())
	g.shift(ranges)
	if err != nil || float64(g.longestShare(ranges, paces)*gain) > g.longestShare(g.placement(), paces) {
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
	return true, g.place()
}

// measured returns the rows per second of all members since the last call, as they
// were before for those that have no replicas; ok is false if one of the others has
// trained none.
func (g *Group) measured() (paces []float64, ok bool) {
	ok = true
	for _, m := range g.members {
		p := &m.pace
		if len(m.replicas) == 0 && p.speed > 0 {
			paces = append(paces, p.speed)
			continue
		}
		ok = ok && p.rows > 0 && p.busy > 0
		paces = append(paces, float64(p.rows)/max(p.busy, 1).Seconds())
		p.rows, p.busy = 0, 0
		p.times++
	}
	return paces, ok
}

// least returns how many replicas each member has at least: one where what was
// measured may be the first steps alone, in which some devices compile.
func (g *Group) least() []int {
	least := make([]int, len(g.members))
	for i, m := range g.members {
		if m.pace.times < 2 {
			least[i] = 1
		}
	}
	return least
}

// longestShare returns how long the slowest device takes for a full batch, in seconds.
func (g *Group) longestShare(ranges [][]int, paces []float64) float64 {
	longest := 0.0
	for i, rows := range g.rows(ranges) {
		longest = max(longest, float64(rows)/paces[i])
	}
	return longest
}

// grow makes the members ready for a placement. A member that is lost is
// found out by the next run.
func (g *Group) grow(ctx context.Context, ranges [][]int) error {
	capacities := g.capacities(ranges)
	for i, m := range g.members {
		err := g.withDeadline(m, func() error { return m.exe.Grow(ctx, capacities[i]) })
		var l *lost
		if err != nil && (errors.Is(err, device.OutOfMemory) || !errors.As(err, &l)) {
			return m.named(err)
		}
	}
	return nil
}
