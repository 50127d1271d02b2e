package cpu

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
// For any other a float32 of the row, its wide, lies in the lane: see widen.go.

// halver decides which values are halves.
type halver struct {
	*compiler
	uses map[*value][]use
}

// use is an action that reads or makes a value.
type use struct {
	group  *group
	action *action
	makes  bool
}

// halve decides which values are halves, once the groups are known.
func (c *compiler) halve() {
	h := &halver{compiler: c, uses: map[*value][]use{}}
	for _, g := range c.fn.groups {
		for k := range g.actions {
			n := &c.fn.Nodes[g.nodes[k]]
			h.note(n.In, use{g, &g.actions[k], false})
			h.note(n.Out, use{g, &g.actions[k], true})
		}
	}
	for id, v := range c.fn.values {
		v.half = c.bf16(v) && !c.fourBytes && v.state == nil && !c.fn.keeps(graph.Value(id))
	}
	for _, v := range c.fn.values {
		v.half = v.half && h.possible(v)
	}
	for changed := true; changed; {
		changed = false
		for id, v := range c.fn.values {
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
			h.uses[h.fn.values[id]] = append(h.uses[h.fn.values[id]], u)
		}
	}
}

// possible reports whether all actions that are not by rows take v as a half.
func (h *halver) possible(v *value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool { return !u.group.rows && !u.action.takes(v) })
}

// local reports whether only one group of rows knows v.
func (h *halver) local(id graph.Value, v *value) bool {
	all, made := h.uses[v], false
	for _, u := range all {
		made = made || u.makes
		if u.group != all[0].group || !u.group.rows {
			return false
		}
	}
	return made && !h.fn.isResult(id)
}

// wanted reports whether all readers of v take it as a half.
func (h *halver) wanted(v *value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool { return !u.makes && !u.action.takes(v) })
}
