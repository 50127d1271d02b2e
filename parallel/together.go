package parallel

import (
	"errors"
	"sync"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
)

// runTogether calls f for every member at once: f runs a function in which
// members wait for each other. When one fails the others are called off, and the
// group has to be formed anew. A member that keeps the others waiting for too
// long is lost: see watch.
func (g *Group) runTogether(f func(rank int, m *member, w *watch) error) error {
	w := g.watch()
	defer w.stop()
	defer g.settle()
	err := g.each(func(rank int, m *member) error {
		if err := f(rank, m, w); err != nil {
			g.hub.Abort(m.named(err))
			return g.mark(m, err)
		}
		w.finished(rank)
		return nil
	})
	if w.parts.Load() > 0 {
		g.progressed()
	}
	if err != nil {
		g.stale = true // the hub is spent
		return err
	}
	g.longest = max(g.longest, w.elapsed())
	return nil
}

// settle waits until no exchange with other ranks is under way any more.
func (g *Group) settle() {
	if hub, ok := g.hub.(*collective.Hub); ok {
		hub.Wait()
	}
}

// eachAlone calls f for every member at once: f waits for no other member. One
// for which that takes much longer than a step is lost.
func (g *Group) eachAlone(f func(rank int, m *member) error) error {
	return g.each(func(rank int, m *member) error {
		return g.withDeadline(m, func() error { return f(rank, m) })
	})
}

// each calls f for every member at once and returns the first error by rank,
// those that follow from an aborted group last.
func (g *Group) each(f func(rank int, m *member) error) error {
	errs := g.all(f)
	var aborted error
	for i, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, collective.Aborted) || errors.Is(err, device.Aborted):
			aborted = err
		default:
			return g.members[i].named(err)
		}
	}
	return aborted
}

// all calls f for every member at once and returns their errors by rank. The
// last is called here: one device costs no goroutine.
func (g *Group) all(f func(rank int, m *member) error) []error {
	errs := make([]error, len(g.members))
	var others sync.WaitGroup
	for i, m := range g.members {
		call := func() { errs[i] = f(i, m) }
		if i < len(g.members)-1 {
			others.Go(call)
		} else {
			call()
		}
	}
	others.Wait()
	return errs
}
