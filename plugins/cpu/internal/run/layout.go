package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Times are groups, and a slot is taken from the group that makes a value to the last that
// reads it. Slots whose times do not overlap share memory (place, in slot.go):
//
//	time (group)   1    2    3    4    5
//	x              ======
//	y                   ===========
//	z                             ======       z lies where x lay
//
// A value that only one group of rows knows needs no slot in the arena: it has one in the
// lanes, of one row each, where times are the chains of the group.

// lay gives every value that the function computes a place: in the arena from
// the group that makes it to the last that reads it, or, if only its own group
// knows it, in the memory that a row has while it passes through the group.
func lay(linker *Linker) {
	fn := linker.fn
	l := &layout{linker: linker, fn: fn, groupOf: make([]int, len(fn.graph.Nodes)),
		chainOf: make([]int, len(fn.graph.Nodes))}
	for g, group := range fn.groups {
		for k, i := range group.nodes {
			l.groupOf[i], l.chainOf[i] = g+1, group.chainOf(k)
		}
	}
	l.wides()
	l.bringIn()
	l.updateInPlace()
	for i := range fn.graph.Nodes {
		for _, v := range fn.graph.Nodes[i].Out {
			if fn.values[v].state == nil {
				l.result(i, v)
			}
		}
	}
	for _, t := range linker.temps {
		t.slot.from, t.slot.to = l.groupOf[t.node], l.groupOf[t.node]
		fn.slots = append(fn.slots, t.slot)
	}
	for _, o := range fn.graph.Outputs {
		if o.Keep {
			l.keep(o.Name, fn.values[o.Value])
		}
	}
	for _, do := range linker.onLayout {
		do()
	}
}

// layout is the state of lay. Times are groups, 1 and on; 0 is before them.
type layout struct {
	linker  *Linker
	fn      *Function
	groupOf []int // by node
	chainOf []int // by node: its chain in the group
}

// wides gives every widened value its slot in a lane.
func (l *layout) wides() {
	for _, g := range l.fn.groups {
		for _, x := range g.wides {
			s := &Slot{fixed: x.float.storedBytes(), from: g.chainOf(x.first), to: g.chainOf(x.last)}
			x.float.slot, g.local = s, append(g.local, s)
		}
	}
}

// result gives result v of node i its slot.
func (l *layout) result(i int, v graph.Value) {
	x := l.fn.values[v]
	last, chainIndex := l.lastUse(v, i)
	g := l.groupOf[i]
	if x.Kind == graph.Rows && l.fn.groups[g-1].byRows() && last == g {
		x.local = true
		if x.over != nil && x.over.local {
			x.slot = x.over.slot
			x.slot.to = max(x.slot.to, chainIndex)
			return
		}
		x.slot = &Slot{fixed: x.storedBytes(), from: l.chainOf[i], to: chainIndex}
		l.fn.groups[g-1].local = append(l.fn.groups[g-1].local, x.slot)
		return
	}
	l.slot(x, g, last)
}

// lastUse returns the last group that reads v, and the last place in it; made
// by node i, it is in use at least there.
func (l *layout) lastUse(v graph.Value, i int) (group, chainIndex int) {
	if i >= 0 {
		group, chainIndex = l.groupOf[i], l.chainOf[i]
	}
	for k := range l.fn.graph.Nodes {
		if slices.Contains(l.fn.graph.Nodes[k].In, v) {
			g := l.groupOf[k]
			if g > group {
				chainIndex = 0
			}
			group, chainIndex = max(group, g), max(chainIndex, l.chainOf[k])
		}
	}
	if IsResult(l.fn.graph, v) {
		group = len(l.fn.groups) + 1
	}
	return group, chainIndex
}

// slot gives v a slot in the arena from one group to another.
func (l *layout) slot(v *Value, from, to int) {
	v.slot = &Slot{from: from, to: to}
	switch v.Kind {
	case graph.Rows:
		v.slot.perRow = v.size()
	case graph.Replica:
		v.slot.perReplica = v.size()
	default:
		v.slot.fixed = v.size()
	}
	l.fn.slots = append(l.fn.slots, v.slot)
}

// keep moves v to the slots that outlive the run.
func (l *layout) keep(name string, v *Value) {
	m := l.linker.memory
	l.fn.retained[name] = v
	if v.slot == nil || slices.Contains(m.retained, v.slot) {
		return
	}
	l.fn.slots = slices.DeleteFunc(l.fn.slots, func(s *Slot) bool { return s == v.slot })
	m.retained = append(m.retained, v.slot)
}

// bringIn finds a slot for every input: commit finds what train retained,
// float32 is copied in the device's own order, and so is what is retained; the
// rest is read where it lies.
func (l *layout) bringIn() {
	for i, id := range l.fn.graph.Inputs {
		v := l.fn.values[id]
		v.input = i
		if t := l.linker.earlierValue(v.Name); t != nil {
			v.slot, v.state, v.input = t.slot, t.state, -1
			continue
		}
		if v.DType == tensor.F32 || l.fn.keeps(id) {
			last, _ := l.lastUse(id, -1)
			l.slot(v, 0, last)
			l.fn.copied = append(l.fn.copied, v)
		}
	}
}
