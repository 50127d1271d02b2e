package plan

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// lay gives every value that the function computes a place: in the arena from
// the group that makes it to the last that reads it, or, if only its own group
// knows it, in the memory that a row has while it passes through the group.
func lay(c *run.Compiler) {
	l := &layout{Compiler: c, groupOf: make([]int, len(c.Fn.Nodes)), place: make([]int, len(c.Fn.Nodes))}
	for g, group := range c.Fn.Groups {
		for k, i := range group.Nodes {
			l.groupOf[i], l.place[i] = g+1, group.ChainOf(k)
		}
	}
	l.wides()
	l.bringIn()
	l.updateInPlace()
	for i := range c.Fn.Nodes {
		for _, v := range c.Fn.Nodes[i].Out {
			if c.Fn.Known[v].State == nil {
				l.result(i, v)
			}
		}
	}
	for _, t := range c.Temps {
		t.From, t.To = l.groupOf[t.Node], l.groupOf[t.Node]
		c.Fn.Slots = append(c.Fn.Slots, t.Slot)
	}
	for _, o := range c.Fn.Outputs {
		if o.Keep {
			keep(c, o.Name, c.Fn.Known[o.Value])
		}
	}
	for _, do := range c.After {
		do()
	}
}

// layout is the state of lay. Times are groups, 1 and on; 0 is before them.
type layout struct {
	*run.Compiler
	groupOf []int // by node
	place   []int // by node: its place in the group
}

// wides gives every wide its place in a lane.
func (l *layout) wides() {
	for _, g := range l.Fn.Groups {
		for _, x := range g.Wides {
			s := &run.Slot{Fixed: x.Float.Held(), From: g.ChainOf(x.First), To: g.ChainOf(x.Last)}
			x.Float.Slot, g.Local = s, append(g.Local, s)
		}
	}
}

// result gives result v of node i its place.
func (l *layout) result(i int, v graph.Value) {
	x := l.Fn.Known[v]
	last, place := l.lastUse(v, i)
	g := l.groupOf[i]
	if x.Kind == graph.Rows && l.Fn.Groups[g-1].ByRows() && last == g {
		x.Local = true
		x.Slot = &run.Slot{Fixed: x.Held(), From: l.place[i], To: place}
		l.Fn.Groups[g-1].Local = append(l.Fn.Groups[g-1].Local, x.Slot)
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
	for k := range l.Fn.Nodes {
		if slices.Contains(l.Fn.Nodes[k].In, v) {
			g := l.groupOf[k]
			if g > group {
				place = 0
			}
			group, place = max(group, g), max(place, l.place[k])
		}
	}
	if l.Fn.IsResult(v) {
		group = len(l.Fn.Groups) + 1
	}
	return group, place
}

// slot gives v a slot in the arena from one group to another.
func (l *layout) slot(v *run.Value, from, to int) {
	v.Slot = &run.Slot{From: from, To: to}
	switch v.Kind {
	case graph.Rows:
		v.Slot.PerRow = v.Size()
	case graph.Replica:
		v.Slot.PerReplica = v.Size()
	default:
		v.Slot.Fixed = v.Size()
	}
	l.Fn.Slots = append(l.Fn.Slots, v.Slot)
}

// keep moves v to the slots that outlive the run.
func keep(c *run.Compiler, name string, v *run.Value) {
	c.Fn.Kept[name] = v
	if v.Slot == nil || slices.Contains(c.Kept, v.Slot) {
		return
	}
	c.Fn.Slots = slices.DeleteFunc(c.Fn.Slots, func(s *run.Slot) bool { return s == v.Slot })
	c.Kept = append(c.Kept, v.Slot)
}

// bringIn finds a place for every input: commit finds what train kept,
// float32 is copied in the device's own order, and so is what is kept; the
// rest is read where it lies.
func (l *layout) bringIn() {
	for i, id := range l.Fn.Inputs {
		v := l.Fn.Known[id]
		v.Input = i
		if t := l.Given[v.Name]; t != nil {
			v.Slot, v.State, v.Input = t.Slot, t.State, -1
			continue
		}
		if v.DType == tensor.F32 || l.Fn.Keeps(id) {
			last, _ := l.lastUse(id, -1)
			l.slot(v, 0, last)
			l.Fn.Copied = append(l.Fn.Copied, v)
		}
	}
}
