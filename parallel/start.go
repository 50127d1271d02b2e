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
	"github.com/bnctl/bnctl/tensor"
)

// loadTimeout is how long the first Load may take at least: a device may have
// to compile what it runs.
const loadTimeout = time.Minute

// start makes the members ready for the first step.
func (d *Driver) start(ctx context.Context, state map[string]tensor.Tensor) error {
	if err := d.loadAll(ctx); err != nil {
		return err
	}
	if err := d.write(ctx, state); err != nil {
		return err
	}
	form := d.join
	if d.stale { // somebody was lost, and the others hold more than they were loaded for
		form = d.regroup
	}
	if err := d.recover(ctx, form(ctx)); err != nil {
		return err
	}
	d.deaths = 0
	return nil
}

// loadAll loads the program on all members. Operations that some member
// refuses are decomposed in the program of all: what the devices compute must
// not depend on which of them takes part. So a member that is lost here is
// waited for.
func (d *Driver) loadAll(ctx context.Context) error {
	whole := d.program
	var refused []graph.Op
	for {
		l := d.load(ctx)
		fresh := slices.DeleteFunc(l.refused, func(o graph.Op) bool { return slices.Contains(refused, o) })
		switch {
		case l.err != nil:
			return l.err
		case l.refusal != nil && len(fresh) == 0:
			return l.refusal // names device and nodes
		case l.refusal == nil && len(l.gone) == 0:
			return nil
		}
		if err := d.replace(ctx, l.gone); err != nil {
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
		if err := d.free(); err != nil {
			return err
		}
		d.program = simpler
	}
}

// loading is what came of loading the program on all members that lack it.
type loading struct {
	refused []graph.Op
	refusal error   // of the first that refuses some
	gone    []error // of members that were lost, each a *lost
	err     error   // of the first that fails otherwise
}

// load loads the program on all members at once.
func (d *Driver) load(ctx context.Context) (l loading) {
	for i, err := range d.all(func(m *member) error { return d.loadOn(ctx, m) }) {
		var r *device.Refused
		var gone *lost
		switch {
		case err == nil:
		case errors.As(err, &gone):
			gone.err = d.members[i].named(gone.err)
			l.gone = append(l.gone, gone)
		case errors.As(err, &r):
			l.refusal = cmp.Or(l.refusal, d.members[i].named(err))
			for _, n := range r.Nodes {
				l.refused = append(l.refused, n.Op)
			}
		default:
			l.err = cmp.Or(l.err, d.members[i].named(err))
		}
	}
	slices.Sort(l.refused)
	l.refused = slices.Compact(l.refused)
	return l
}

// loadOn loads the program on a member, unless it has it.
func (d *Driver) loadOn(ctx context.Context, m *member) error {
	if m.exe != nil {
		return nil
	}
	t := awake.AfterFunc(max(d.config.timeout(), loadTimeout), m.giveUp)
	defer t.Stop()
	exe, err := m.Device.Load(ctx, d.program, m.capacity)
	if err != nil {
		return d.markGone(m, err)
	}
	m.exe = exe
	return nil
}

// replace drops members that were lost before they took part, and waits until
// they are opened again. It goes on without those that do not come in time, or
// again and again are lost, as long as there are others.
func (d *Driver) replace(ctx context.Context, gone []error) error {
	for _, err := range gone {
		if err := d.drop(err); err != nil {
			return err
		}
		d.deaths++
	}
	for range gone {
		if d.config.Reopen == nil || d.deaths > lastDeaths && len(d.members) > 0 {
			break
		}
		if d.deaths > lastDeaths {
			return d.mourn(gone[0])
		}
		m, err := d.nextWithin(ctx, gone[0])
		if err != nil && (ctx.Err() != nil || len(d.members) == 0) {
			return err
		}
		if err != nil {
			break
		}
		d.returns.own = append(d.returns.own, m.Device)
		d.admit(m)
		if d.config.Back != nil {
			d.config.Back(BackEvent{Device: m.Name})
		}
	}
	return d.place()
}

// admit makes m a member, in the order of the devices of Open.
func (d *Driver) admit(m *member) {
	d.members = append(slices.Clone(d.members), m)
	slices.SortFunc(d.members, func(a, b *member) int { return cmp.Compare(a.order, b.order) })
	d.stale = true
}
