package plan

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// widener puts what halves and float32 need between the actions of a group.
type widener struct {
	*run.Compiler
	group *run.Group
	nodes []int
	done  []*run.ByRows
	wides map[*run.Value]*run.Wide
}

// widen has the actions of a group take their halves, and round what they store
// as bfloat16.
func widen(c *run.Compiler, g *run.Group) {
	w := &widener{Compiler: c, group: g, wides: map[*run.Value]*run.Wide{}}
	for k, a := range g.Actions {
		w.add(g.Nodes[k], a)
	}
	g.Nodes, g.Actions = w.nodes, w.done
}

// add adds the action of a node, behind what it needs.
func (w *widener) add(node int, a *run.ByRows) {
	n := &w.Fn.Nodes[node]
	var wides []*run.Wide
	for _, id := range n.In {
		if id != graph.None && w.apart(a, w.Fn.Known[id]) {
			wides = append(wides, w.need(node, id))
		}
	}
	k := len(w.done)
	for _, x := range wides {
		x.Last = k
	}
	for _, id := range n.Out {
		if v := w.Fn.Known[id]; w.apart(a, v) {
			w.newWide(id, k)
		}
	}
	w.nodes, w.done = append(w.nodes, node), append(w.done, w.stores(n, a))
}

// apart reports whether v is a half that the action does not take.
func (w *widener) apart(a *run.ByRows, v *run.Value) bool { return v.Half && !a.Takes(v) }

// need returns the wide of a value for the next action, and has it made unless
// it is there.
func (w *widener) need(node int, id graph.Value) *run.Wide {
	v := w.Fn.Known[id]
	if w.wides[v] == nil {
		w.newWide(id, len(w.done))
		w.nodes, w.done = append(w.nodes, node), append(w.done, w.widening(id))
	}
	return w.wides[v]
}

// newWide records the wide of a half that action k reads or makes first.
func (w *widener) newWide(id graph.Value, k int) {
	v := w.Fn.Known[id]
	float := *v
	float.Half, float.Local, float.Input = false, true, -1
	w.wides[v] = &run.Wide{Id: id, Half: v, Float: &float, First: k, Last: k}
	w.group.Wides = append(w.group.Wides, w.wides[v])
}

// widening returns the action that makes the wide of a half.
func (w *widener) widening(id graph.Value) *run.ByRows {
	kernels, v := w.Kernels, w.Fn.Known[id]
	return run.BySpan(&run.ByRows{Widens: w.wides[v], Work: v.Count / 16, Spans: run.Spans{
		Positions: v.Positions, Step: 1, Width: v.Channels, Pointwise: true,
		Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			from, to = from*v.Channels, to*v.Channels
			kernels.WidenBF16(f.At(v, w, i)[from:to], f.Half(v, w, i)[from:to])
		}}})
}

// storing is what is done to a result of an action where it is stored.
type storing struct {
	value *run.Value
	wide  *run.Wide // of a result that is narrowed
	round bool      // the action has not rounded it
}

// stores returns the action of node n with its results rounded that are not yet,
// and those narrowed that it does not take as halves.
func (w *widener) stores(n *graph.Node, a *run.ByRows) *run.ByRows {
	var all []storing
	for _, id := range n.Out {
		v := w.Fn.Known[id]
		s := storing{value: v, round: slices.Contains(a.Unrounded, v)}
		if v.Half {
			s.wide = w.wides[v]
		}
		if s.wide != nil || s.round && !v.Half {
			all = append(all, s)
		}
	}
	switch {
	case len(all) == 0:
	case a.Span != nil:
		span := a.Span
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) {
			span(f, w, i, from, to)
			for _, s := range all {
				s.value.Stretches(from, to, func(at, from, to int) {
					s.store(f, w, i, at*s.value.Channels, (at+to-from)*s.value.Channels)
				})
			}
		}
		return run.BySpan(a)
	default:
		row := a.Row
		a.Work = 0 // what a piece computes is not known here
		a.Row = func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			row(f, w, i, piece, pieces)
			for _, s := range all {
				s.store(f, w, i, 0, s.value.Kept())
			}
		}
	}
	return a
}

// store stores elements [from, to) of row i. The wide is rounded itself only if
// it is read again.
func (s *storing) store(f *run.Frame, w *run.Worker, i, from, to int) {
	x, kernels := f.At(s.value, w, i)[from:to], f.Kernels
	if s.round && (s.wide == nil || s.wide.Last > s.wide.First) {
		kernels.RoundBF16(x)
	}
	if s.wide != nil {
		kernels.NarrowBF16(f.Half(s.value, w, i)[from:to], x)
	}
}
