package run

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A concatenation of channels does not copy an operand if it is the only reader and the
// action that makes the operand can leave gaps between positions. The operand is then
// computed in its final place:
//
// 	position      0                 1                 2
// 	joined     | a a a a | b b | a a a a | b b | a a a a | b b |
// 	a          first channel 0, step 6
// 	b          first channel 4, step 6
//
// The joined value is allocated before the first of these operands is computed.

// insert finds the values that can be stored among the channels of a larger value.
func (l *placer) insert() {
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
				x.joined, x.first, x.alias = y, first, nil
			}
		}
	}
}

// action returns the action of node i.
func (l *placer) action(i int) Action {
	g := l.fn.groups[l.groupOf[i]-1]
	if g.whole != nil {
		return g.whole
	}
	return g.actions[slices.Index(g.nodes, i)]
}

// joins reports whether other values may be stored among the channels of v: all positions
// of v are contiguous, and kernels, which use 32-bit byte offsets (kernel.Window), can
// reach the last position.
func (l *placer) joins(id graph.Value) bool {
	v := l.fn.values[id]
	return l.ordinary(id) && !l.linker.machine.Reduced && v.Last && v.alias == nil && v.size() <= math.MaxInt32
}

// ordinary reports whether v is a float32 value of rows with separate memory.
func (l *placer) ordinary(id graph.Value) bool {
	v := l.fn.values[id]
	return v.Kind == graph.Rows && v.DType == tensor.F32 && !v.half && !v.private && v.Ring == 0 &&
		v.state == nil && !l.fn.keeps(id)
}

// insertable reports whether v, an operand of node i, may be stored elsewhere: the node is
// its only reader and reads it once, and the action that makes v supports it.
func (l *placer) insertable(id graph.Value, i int) bool {
	if !l.ordinary(id) || l.fn.graph.IsResult(id) {
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

// moment is a time in a run: a group of nodes, and a chain of the group.
type moment struct{ group, chain int }

// begins returns the time of the first write to x, a result of node i. If other values are stored among its
// channels, they may be written before node i runs.
func (l *placer) begins(i int, x *Value) moment {
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
