package cpu

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// lay gives every value that the function computes a place: in the arena from
// the group that makes it to the last that reads it, or, if only its own group
// knows it, in the memory that a row has while it passes through the group.
func (c *compiler) lay() {
	l := &layout{compiler: c, groupOf: make([]int, len(c.fn.Nodes)), place: make([]int, len(c.fn.Nodes))}
	for g, group := range c.fn.groups {
		for k, i := range group.nodes {
			l.groupOf[i], l.place[i] = g+1, group.chainOf(k)
		}
	}
	l.wides()
	l.bringIn()
	l.updateInPlace()
	for i := range c.fn.Nodes {
		for _, v := range c.fn.Nodes[i].Out {
			if c.fn.values[v].state == nil {
				l.result(i, v)
			}
		}
	}
	for _, t := range c.temps {
		t.from, t.to = l.groupOf[t.node], l.groupOf[t.node]
		c.fn.slots = append(c.fn.slots, t.slot)
	}
	for _, o := range c.fn.Outputs {
		if o.Keep {
			c.keep(o.Name, c.fn.values[o.Value])
		}
	}
	for _, do := range c.after {
		do()
	}
}

// layout is the state of lay. Times are groups, 1 and on; 0 is before them.
type layout struct {
	*compiler
	groupOf []int // by node
	place   []int // by node: its place in the group
}

// wides gives every wide its place in a lane.
func (l *layout) wides() {
	for _, g := range l.fn.groups {
		for _, x := range g.wides {
			s := &slot{fixed: x.float.held(), from: g.chainOf(x.first), to: g.chainOf(x.last)}
			x.float.slot, g.local = s, append(g.local, s)
		}
	}
}

// result gives result v of node i its place.
func (l *layout) result(i int, v graph.Value) {
	x := l.fn.values[v]
	last, place := l.lastUse(v, i)
	g := l.groupOf[i]
	if x.Kind == graph.Rows && l.fn.groups[g-1].rows && last == g {
		x.local = true
		x.slot = &slot{fixed: x.held(), from: l.place[i], to: place}
		l.fn.groups[g-1].local = append(l.fn.groups[g-1].local, x.slot)
		return
	}
	l.slot(x, g, last)
}

// lastUse returns the last group that reads v, and the last place in it; made
// by node i, it is in use at least there.
func (l *layout) lastUse(v graph.Value, i int) (group, place int) {
	if i >= 0 {
		group, place = l.groupOf[i], l.place[i]
	}
	for k := range l.fn.Nodes {
		if slices.Contains(l.fn.Nodes[k].In, v) {
			g := l.groupOf[k]
			if g > group {
				place = 0
			}
			group, place = max(group, g), max(place, l.place[k])
		}
	}
	if l.fn.isResult(v) {
		group = len(l.fn.groups) + 1
	}
	return group, place
}

// slot gives v a slot in the arena from one group to another.
func (l *layout) slot(v *value, from, to int) {
	v.slot = &slot{from: from, to: to}
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
func (c *compiler) keep(name string, v *value) {
	c.fn.kept[name] = v
	if v.slot == nil || slices.Contains(c.kept, v.slot) {
		return
	}
	c.fn.slots = slices.DeleteFunc(c.fn.slots, func(s *slot) bool { return s == v.slot })
	c.kept = append(c.kept, v.slot)
}

// bringIn finds a place for every input: commit finds what train kept,
// float32 is copied in the device's own order, and so is what is kept; the
// rest is read where it lies.
func (l *layout) bringIn() {
	for i, id := range l.fn.Inputs {
		v := l.fn.values[id]
		v.input = i
		if t := l.given[v.name]; t != nil {
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
