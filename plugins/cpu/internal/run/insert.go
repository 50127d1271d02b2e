package run

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A concatenation of channels copies nothing of an operand that nothing else reads, and that is made by an
// action that can leave space between its positions: it is made where it comes to lie.
//
//	position      0                 1                 2
//	joined     | a a a a | b b | a a a a | b b | a a a a | b b |
//	a          first channel 0, step 6
//	b          first channel 4, step 6
//
// The joined value has its memory from the first of them on.

// insert finds the values that lie among the channels of a wider one.
func (l *layout) insert() {
	for i := range l.fn.graph.Nodes {
		n := &l.fn.graph.Nodes[i]
		a, ok := l.action(i).(*ByRows)
		if !ok || a.Joins == nil || !l.joins(n.Out[0]) {
			continue
		}
		y := l.fn.values[n.Out[0]]
		for _, id := range n.In {
			x := l.fn.values[id]
			if first, ok := a.Joins[x]; ok && l.insertable(id, i) {
				x.joined, x.first, x.over = y, first, nil
			}
		}
	}
}

// action returns the action of node i.
func (l *layout) action(i int) Action {
	g := l.fn.groups[l.groupOf[i]-1]
	if g.alone != nil {
		return g.alone
	}
	return g.actions[slices.Index(g.nodes, i)]
}

// joins reports whether others may lie among the channels of v: it has all its positions in one place, and
// kernels, whose offsets are bytes in 32 bits (kernel.Window), reach the last of them.
func (l *layout) joins(id graph.Value) bool {
	v := l.fn.values[id]
	return l.ordinary(id) && !l.linker.machine.Reduced && v.Last && v.over == nil && v.size() <= math.MaxInt32
}

// ordinary reports whether v is float32 of rows that lie in memory of their own.
func (l *layout) ordinary(id graph.Value) bool {
	v := l.fn.values[id]
	return v.Kind == graph.Rows && v.DType == tensor.F32 && !v.half && !v.private && v.ring == 0 &&
		v.state == nil && !l.fn.keeps(id)
}

// insertable reports whether v, an operand of node i, may lie elsewhere: nothing but the node reads it, once,
// and what makes it can do that.
func (l *layout) insertable(id graph.Value, i int) bool {
	if !l.ordinary(id) || IsResult(l.fn.graph, id) {
		return false
	}
	maker, reads := -1, 0
	for k := range l.fn.graph.Nodes {
		n := &l.fn.graph.Nodes[k]
		if len(n.Out) == 1 && n.Out[0] == id {
			maker = k
		}
		for _, v := range n.In {
			if v == id {
				reads++
			}
		}
	}
	return maker >= 0 && reads == 1 && l.action(maker).Stores().Inserts
}

// moment is a group, and a chain of it.
type moment struct{ group, chain int }

// begins returns when x, a result of node i, is begun to be written: with the first value among its channels.
func (l *layout) begins(i int, x *Value) moment {
	began := moment{l.groupOf[i], l.chainOf[i]}
	for k := range l.fn.graph.Nodes[:i] {
		for _, id := range l.fn.graph.Nodes[k].Out {
			at := moment{l.groupOf[k], l.chainOf[k]}
			if l.fn.values[id].joined == x && (at.group < began.group ||
				at.group == began.group && at.chain < began.chain) {
				began = at
			}
		}
	}
	return began
}
