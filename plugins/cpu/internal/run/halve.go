package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// At precision device.BF16 a value that is stored as bfloat16 may be a half: it
// takes two bytes an element. In the arena all are, which halves memory and what
// passes through the caches between groups, unless an action that is not by rows
// takes them as float32 only; in the memory of a lane those are that all their
// readers take as they are. No bit depends on it: float32 that are bfloat16 become
// halves and come back without loss.
//
// Actions say which of their operands and results they take as halves (asHalves).
// For any other a float32 of the row, lies in the lane: see widen.go.

// halver decides which values are halves.
type halver struct {
	linker *Linker
	uses   map[*Value][]use
}

// use is an action that reads or makes a value.
type use struct {
	group  *group
	action Action
	makes  bool
}

// halve decides which values are halves, once the groups are known.
func halve(l *Linker) {
	h := &halver{linker: l, uses: map[*Value][]use{}}
	for _, g := range l.fn.groups {
		for k, a := range g.all() {
			n := &l.fn.graph.Nodes[g.nodes[k]]
			h.note(n.In, use{g, a, false})
			h.note(n.Out, use{g, a, true})
		}
	}
	for id, v := range l.fn.values {
		v.half = l.BF16(v) && !l.machine.FourBytes && v.state == nil && !l.fn.keeps(graph.Value(id)) &&
			l.earlierValue(v.Name) == nil
	}
	for _, v := range l.fn.values {
		v.half = v.half && h.possible(v)
	}
	for changed := true; changed; {
		changed = false
		for id, v := range l.fn.values {
			if v.half && h.local(graph.Value(id), v) && !h.wanted(v) {
				v.half, changed = false, true
			}
		}
	}
}

// note records the use of values.
func (h *halver) note(values []graph.Value, u use) {
	for _, id := range values {
		if id != graph.None {
			h.uses[h.linker.fn.values[id]] = append(h.uses[h.linker.fn.values[id]], u)
		}
	}
}

// possible reports whether all actions that are not by rows take v as a half.
func (h *halver) possible(v *Value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool {
		return !u.group.byRows() && !u.action.Stores().takes(v)
	})
}

// local reports whether only one group of rows knows v.
func (h *halver) local(id graph.Value, v *Value) bool {
	all, made := h.uses[v], false
	for _, u := range all {
		made = made || u.makes
		if u.group != all[0].group || !u.group.byRows() {
			return false
		}
	}
	return made && !IsResult(h.linker.fn.graph, id)
}

// wanted reports whether all readers of v take it as a half.
func (h *halver) wanted(v *Value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool { return !u.makes && !u.action.Stores().takes(v) })
}
