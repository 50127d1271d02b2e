package parallel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bnctl/bnctl/awake"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// loadTimeout is how long the first Load may take at least: a device may have
// to compile what it runs.
const loadTimeout = time.Minute

// load loads the program on all members. Operations that some member
// refuses are decomposed in the program of all: what the devices compute must
// not depend on which of them takes part. So a member that is lost here is
// waited for.
func (g *Group) load(ctx context.Context) error {
	whole := g.program
	var refused []graph.Op
	for {
		l := g.loadOnce(ctx)
		fresh := slices.DeleteFunc(l.refused, func(o graph.Op) bool { return slices.Contains(refused, o) })
		switch {
		case l.err != nil:
			return l.err
		case l.refusal != nil && len(fresh) == 0:
			return l.refusal // names device and nodes
		case l.refusal == nil && len(l.gone) == 0:
			return nil
		}
		if err := g.replace(ctx, l.gone); err != nil {
			return err
		}
		if len(fresh) == 0 {
			continue
		}
		refused = append(refused, fresh...)
		simpler, err := graph.Decompose(whole, refused)
		if err != nil {
			return l.refusal
		}
		if err := g.free(); err != nil {
			return err
		}
		g.program = simpler
	}
}

// loading is what came of loading the program on all members that lack it.
type loading struct {
	refused []graph.Op
	refusal error   // of the first that refuses some
	gone    []error // of members that were lost, each a *lost
	err     error   // of the first that fails otherwise
}

// loadOnce loads the program on all members that lack it, at once.
func (g *Group) loadOnce(ctx context.Context) (l loading) {
	for i, err := range g.all(func(_ int, m *member) error { return g.loadOn(ctx, m) }) {
		var r *device.Refused
		var gone *lost
		switch {
		case err == nil:
		case errors.As(err, &gone):
			gone.err = g.members[i].named(gone.err)
			l.gone = append(l.gone, gone)
		case errors.As(err, &r):
			l.refusal = cmp.Or(l.refusal, g.members[i].named(err))
			for _, n := range r.Nodes {
				l.refused = append(l.refused, n.Op)
			}
		default:
			l.err = cmp.Or(l.err, g.members[i].named(err))
		}
	}
	slices.Sort(l.refused)
	l.refused = slices.Compact(l.refused)
	return l
}

// loadOn loads the program on a member, unless it has it.
func (g *Group) loadOn(ctx context.Context, m *member) error {
	if m.exe != nil {
		return nil
	}
	t := awake.AfterFunc(max(g.config.timeout(), loadTimeout), m.giveUp)
	defer t.Stop()
	exe, err := m.Device.Load(ctx, g.program, m.capacity)
	if err != nil {
		return g.markGone(m, err)
	}
	m.exe = exe
	return nil
}

// replace drops members that were lost before they took part, and waits until
// they are opened again. It goes on without those that do not come in time, or
// again and again are lost, as long as there are others.
func (g *Group) replace(ctx context.Context, gone []error) error {
	for _, err := range gone {
		if err := g.drop(err); err != nil {
			return err
		}
		g.lastLosses++
	}
	for range gone {
		if g.config.Reopen == nil || g.lastLosses > maxLastLosses && len(g.members) > 0 {
			break
		}
		if g.lastLosses > maxLastLosses {
			return g.countLastLoss(gone[0])
		}
		m, err := g.nextWithin(ctx, gone[0])
		if err != nil && (ctx.Err() != nil || len(g.members) == 0) {
			return err
		}
		if err != nil {
			break
		}
		g.reopener.devices = append(g.reopener.devices, m.Device)
		g.admit(m)
		if g.config.Back != nil {
			g.config.Back(BackEvent{Device: m.Name})
		}
	}
	return g.place()
}

// admit makes m a member, in the order of the devices of Open.
func (g *Group) admit(m *member) {
	g.members = append(slices.Clone(g.members), m)
	slices.SortFunc(g.members, func(a, b *member) int { return cmp.Compare(a.order, b.order) })
	g.stale = true
}

// form forms the first group of the members that are there, each with the state.
func (g *Group) form(ctx context.Context) error {
	form := g.join
	if g.stale { // somebody was lost, and the others hold more than they were loaded for
		form = g.regroup
	}
	if err := g.recover(ctx, form(ctx)); err != nil {
		return err
	}
	g.lastLosses = 0
	return nil
}
