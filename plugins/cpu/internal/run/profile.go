package run

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/graph"
)

// profile divides the time of a run among nodes, by the first result of each. It omits
// nodes that were fused into others.
type profile map[graph.Value]time.Duration

// run executes a group and divides its time among its nodes in proportion to the time of
// the workers. Rows pass through several nodes one after the other, so the clock is read
// for every row and node: a profiled run is slower.
func (p profile) run(f *Frame, g *group, fn *Function) error {
	began := time.Now()
	timed := *g
	timed.actions = slices.Clone(g.actions)
	spent := make([]atomic.Int64, len(g.all()))
	for k := range timed.actions {
		timed.actions[k] = timed.actions[k].timed(&spent[k])
	}
	err := timed.run(f)
	took, all := time.Since(began), int64(0)
	for k := range spent {
		all += spent[k].Load()
	}
	for k, node := range g.nodes[:len(spent)] { // several all-reduces may be one action
		spentHere := took
		if g.byRows() {
			spentHere = time.Duration(float64(took) * float64(spent[k].Load()) / float64(max(all, 1)))
		}
		p[fn.Given(fn.graph.Nodes[node].Out[0])] += spentHere
	}
	return err
}

// timed returns an action that does the same as a, and adds its running time in nanoseconds to spent.
func (a *ByRows) timed(spent *atomic.Int64) *ByRows {
	add := func(began time.Time) { spent.Add(int64(time.Since(began))) }
	t := *a
	t.Row = func(f *Frame, w *Worker, i, piece, pieces int) {
		defer add(time.Now())
		a.Row(f, w, i, piece, pieces)
	}
	if a.Span != nil {
		t.Span = func(f *Frame, w *Worker, i, from, to int) {
			defer add(time.Now())
			a.Span(f, w, i, from, to)
		}
	}
	if a.Prepare != nil {
		t.Prepare = func(f *Frame) error {
			defer add(time.Now())
			return a.Prepare(f)
		}
	}
	if a.Finish != nil {
		t.Finish = func(f *Frame) {
			defer add(time.Now())
			a.Finish(f)
		}
	}
	return &t
}

// times returns the time of the run by node of the original function. It is nil unless the
// step requested a profile.
func (f *Frame) times(fn *graph.Function) []time.Duration {
	p := f.profile
	if p == nil {
		return nil
	}
	list := make([]time.Duration, len(fn.Nodes))
	for i, n := range fn.Nodes {
		list[i] = p[n.Out[0]]
	}
	return list
}
