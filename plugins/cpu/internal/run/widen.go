package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// widener inserts conversions between halves and float32 between the actions of a group.
type widener struct {
	linker *Linker
	group  *group
	nodes  []int
	done   []*ByRows
	wides  map[*Value]*widened
}

// widen inserts conversions for halves among the actions of a group. It also makes actions round the
// results that they store as bfloat16.
func widen(l *Linker, g *group) {
	w := &widener{linker: l, group: g, wides: map[*Value]*widened{}}
	for k, a := range g.actions {
		w.add(g.nodes[k], a)
	}
	g.nodes, g.actions = w.nodes, w.done
}

// add adds the action of a node to the group. If the action needs float32 copies of halves, the conversions
// come first.
func (w *widener) add(node int, a *ByRows) {
	n := &w.linker.fn.graph.Nodes[node]
	var wides []*widened
	for _, id := range n.In {
		if id != graph.None && w.apart(a, w.linker.fn.values[id]) {
			wides = append(wides, w.need(node, id))
		}
	}
	k := len(w.done)
	for _, x := range wides {
		x.last = k
	}
	for _, id := range n.Out {
		if v := w.linker.fn.values[id]; w.apart(a, v) {
			w.newWide(id, k)
		}
	}
	w.nodes, w.done = append(w.nodes, node), append(w.done, w.stores(n, a))
}

// apart reports whether v is a half, but action a needs it as float32.
func (w *widener) apart(a *ByRows, v *Value) bool { return v.half && !a.takes(v) }

// need returns the float32 copy of a half for the next action. If the copy does not exist yet, it adds the
// action that makes it.
func (w *widener) need(node int, id graph.Value) *widened {
	v := w.linker.fn.values[id]
	if w.wides[v] == nil {
		w.newWide(id, len(w.done))
		w.nodes, w.done = append(w.nodes, node), append(w.done, w.widening(id))
	}
	return w.wides[v]
}

// newWide records that the float32 copy of a half begins with action k, which reads or makes it.
func (w *widener) newWide(id graph.Value, k int) {
	v := w.linker.fn.values[id]
	float := *v
	float.half, float.local, float.input = false, true, -1
	w.wides[v] = &widened{id: id, half: v, float: &float, first: k, last: k}
	w.group.wides = append(w.group.wides, w.wides[v])
}

// widening returns the action that computes the float32 copy of a half.
func (w *widener) widening(id graph.Value) *ByRows {
	kernels, v := w.linker.machine.Kernels, w.linker.fn.values[id]
	return BySpan(&ByRows{widens: w.wides[v], Work: v.Count / 16, Spans: Spans{
		Positions: v.Positions, Step: 1, Width: v.Channels, Pointwise: true,
		Span: func(f *Frame, w *Worker, i, from, to int) {
			from, to = from*v.Channels, to*v.Channels
			kernels.WidenBF16(f.At(v, w, i)[from:to], f.Half(v, w, i)[from:to])
		}}})
}

// storing describes how a result of an action is converted when it is stored.
type storing struct {
	value   *Value
	widened *widened // float32 copy of the result, which is converted to the half
	round   bool     // the result must be rounded, because the action has not done it
}

// stores returns the action of node n with conversions of its results. Results that the action does not
// round are rounded, and results that it cannot write as halves are converted to halves.
func (w *widener) stores(n *graph.Node, a *ByRows) *ByRows {
	var all []storing
	for _, id := range n.Out {
		v := w.linker.fn.values[id]
		s := storing{value: v, round: slices.Contains(a.unrounded, v)}
		if v.half {
			s.widened = w.wides[v]
		}
		if s.widened != nil || s.round && !v.half {
			all = append(all, s)
		}
	}
	switch {
	case len(all) == 0:
	case a.Span != nil:
		span := a.Span
		a.Span = func(f *Frame, w *Worker, i, from, to int) {
			span(f, w, i, from, to)
			for _, s := range all {
				s.value.Stretches(from, to, func(at, from, to int) {
					s.store(f, w, i, at*s.value.Channels, (at+to-from)*s.value.Channels)
				})
			}
		}
		return BySpan(a)
	default:
		row := a.Row
		a.Work = 0 // 0, because the work of a piece is unknown
		a.Row = func(f *Frame, w *Worker, i, piece, pieces int) {
			row(f, w, i, piece, pieces)
			for _, s := range all {
				s.store(f, w, i, 0, s.value.StoredCount())
			}
		}
	}
	return a
}

// store rounds elements [from, to) of row i to bfloat16. If the result is a half, store writes them to the
// half, and rounds the float32 copy only if later actions read it.
func (s *storing) store(f *Frame, w *Worker, i, from, to int) {
	x, kernels := f.At(s.value, w, i)[from:to], f.Kernels
	if s.round && (s.widened == nil || s.widened.last > s.widened.first) {
		kernels.RoundBF16(x)
	}
	if s.widened != nil {
		kernels.NarrowBF16(f.Half(s.value, w, i)[from:to], x)
	}
}
