package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/tensor"
)

// Times are groups. A slot is occupied from the group that makes a value to the last group that reads it.
// Slots with disjoint times share memory (assignOffsets, in arena/slot.go):
//
// 	time (group)   1    2    3    4    5
// 	x              ======
// 	y                   ===========
// 	z                             ======       z uses the memory of x
//
// A value that is used in only one group of rows needs no slot in the arena. Its slot is in
// the lanes, of one row each, where times are the chains of the group.

// lay gives every value that the function computes a place in memory. It is in the arena, in use from the
// group that makes the value to the last group that reads it. If only one group uses the value, the place
// is in the memory of a lane, which a row has while it passes through the group.
func lay(linker *Linker) {
	fn := linker.fn
	l := &placer{linker: linker, fn: fn, groupOf: make([]int, len(fn.graph.Nodes)),
		chainOf: make([]int, len(fn.graph.Nodes))}
	for g, group := range fn.groups {
		for k, i := range group.nodes {
			l.groupOf[i], l.chainOf[i] = g+1, group.chainOf(k)
		}
	}
	l.wides()
	l.insert()
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
		t.slot.From, t.slot.To = l.groupOf[t.node], l.groupOf[t.node]
		fn.slots.Arena = append(fn.slots.Arena, t.slot)
	}
	for _, o := range fn.graph.Outputs {
		if o.Keep {
			l.keep(o.Name, fn.values[o.Value])
		}
	}
	for _, g := range fn.groups {
		fn.slots.Lanes = append(fn.slots.Lanes, g.local)
	}
	fn.slots.Regions = regions(fn.graph.Name)
	for _, do := range linker.onLayout {
		do()
	}
}

// placer is the state of lay. Times are groups, from 1 on; 0 is before all groups.
type placer struct {
	linker  *Linker
	fn      *Function
	groupOf []int // group of each node
	chainOf []int // chain of each node in its group
}

// wides gives each float32 copy of a half a slot in a lane.
func (l *placer) wides() {
	for _, g := range l.fn.groups {
		for _, x := range g.wides {
			s := &arena.Slot{Fixed: x.float.storedBytes(), From: g.chainOf(x.first), To: g.chainOf(x.last)}
			x.float.slot, g.local = s, append(g.local, s)
		}
	}
}

// result gives result v of node i a slot.
func (l *placer) result(i int, v graph.Value) {
	x := l.fn.values[v]
	if x.joined != nil {
		return
	}
	last, chainIndex := l.lastUse(v, i)
	g, began := l.groupOf[i], l.begins(i, x)
	if x.Kind == graph.Rows && l.fn.groups[g-1].byRows() && last == g && began.group == g {
		x.local = true
		if x.alias != nil && x.alias.local {
			x.slot = x.alias.slot
			x.slot.To = max(x.slot.To, chainIndex)
			return
		}
		x.slot = &arena.Slot{Fixed: x.storedBytes(), From: began.chain, To: chainIndex}
		l.fn.groups[g-1].local = append(l.fn.groups[g-1].local, x.slot)
		return
	}
	if o := l.replaced(i, v); o != nil {
		x.slot = o.slot
		x.slot.To = max(x.slot.To, last)
		return
	}
	l.slot(x, began.group, last)
	if x.alias != nil && x.alias.local {
		l.move(l.fn.groups[g-1], x.alias.slot, x.slot)
	}
}

// replaced returns an operand of node i that its result v overwrites, or nil if there is
// none. An earlier group made the operand, and nothing reads it after the node.
func (l *placer) replaced(i int, v graph.Value) *Value {
	g := l.groupOf[i]
	group, n := l.fn.groups[g-1], &l.fn.graph.Nodes[i]
	k := slices.Index(group.nodes, i)
	if !group.byRows() || l.fn.graph.IsResult(v) || l.fn.keeps(v) {
		return nil
	}
	for _, id := range n.In {
		if id == graph.None || !slices.Contains(group.actions[k].Over, l.fn.values[id]) {
			continue
		}
		x := l.fn.values[id]
		readers := slices.IndexFunc(group.nodes, func(j int) bool {
			return j != i && slices.Contains(l.fn.graph.Nodes[j].In, id)
		})
		last, _ := l.lastUse(id, -1)
		if last == g && readers < 0 && x.slot != nil && x.slot.From > 0 && x.slot.From < g && !x.local &&
			x.input < 0 && l.fn.values[v].like(x) && !l.linker.memory.Keeps(x.slot) {
			return x
		}
	}
	return nil
}

// move moves values of a group from a slot of its lanes to a slot in the arena. This is the slot of an
// operand that they overwrite, so that the row is written only once.
func (l *placer) move(g *group, src, dst *arena.Slot) {
	in := func(v *Value) bool { return v.local && v.slot == src }
	if slices.ContainsFunc(l.fn.values, func(v *Value) bool { return in(v) && (v.private || v.Ring > 0) }) {
		return
	}
	for _, v := range l.fn.values {
		if in(v) {
			v.local, v.slot = false, dst
		}
	}
	g.local = slices.DeleteFunc(g.local, func(s *arena.Slot) bool { return s == src })
}

// lastUse returns the last group that reads v, and the index in this group of the chain that reads it last.
// If v is made by node i, it is in use at least in the group of node i.
func (l *placer) lastUse(v graph.Value, i int) (group, chainIndex int) {
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
	if l.fn.graph.IsResult(v) {
		group = len(l.fn.groups) + 1
	}
	return group, chainIndex
}

// slot gives v a slot in the arena. The slot is in use from group first to group last.
func (l *placer) slot(v *Value, first, last int) {
	v.slot = &arena.Slot{From: first, To: last, Summed: v.summed}
	switch v.Kind {
	case graph.Rows:
		v.slot.PerRow = v.size()
	case graph.Replica:
		v.slot.PerReplica = v.size()
	default:
		v.slot.Fixed = v.size()
	}
	l.fn.slots.Arena = append(l.fn.slots.Arena, v.slot)
}

// keep gives v a slot that keeps its contents after the run.
func (l *placer) keep(name string, v *Value) {
	m := l.linker.memory
	l.fn.retained[name] = v
	if v.slot == nil || m.Keeps(v.slot) || l.fn.graph.Name == graph.Backward && v.Kind != graph.Replica {
		return // other values are copied: as leaves they would hold a region until the next run
	}
	l.fn.slots.Arena = slices.DeleteFunc(l.fn.slots.Arena, func(s *arena.Slot) bool { return s == v.slot })
	if v.slot.Area = areaOf(l.fn.graph.Name, v); v.slot.Area != arena.InArena {
		l.fn.slots.Retained = append(l.fn.slots.Retained, v.slot)
		return
	}
	m.Retain(v.slot)
}

// bringIn finds a slot for every input. commit uses the values that train retained, and
// train.backward the values of train.forward; these are copied only to change their order.
// Inputs of float32, maps of int8 and retained inputs are copied in the device's order. All
// other inputs, including inputs of commit, are read in place.
func (l *placer) bringIn() {
	for i, id := range l.fn.graph.Inputs {
		v := l.fn.values[id]
		v.input = i
		if t := l.linker.earlierValue(v.Name); t != nil && t.state == nil && t.Last != v.Last {
			last, _ := l.lastUse(id, -1)
			l.slot(v, 0, last)
			v.source, v.input = t, -1
			l.fn.turned = append(l.fn.turned, v)
			continue
		} else if t != nil {
			v.slot, v.state, v.input = t.slot, t.state, -1
			continue
		}
		whole := v.Kind == graph.Whole && l.fn.graph.Name == graph.Commit // for example sums of gradients
		if v.DType == tensor.F32 && !whole || v.Last || v.slack || l.fn.keeps(id) {
			last, _ := l.lastUse(id, -1)
			l.slot(v, 0, last)
			l.fn.copied = append(l.fn.copied, v)
		}
	}
}
