package plan

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
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
	*run.Compiler
	uses map[*run.Value][]use
}

// use is an action that reads or makes a value.
type use struct {
	group  *run.Group
	action run.Action
	makes  bool
}

// halve decides which values are halves, once the groups are known.
func halve(c *run.Compiler) {
	h := &halver{Compiler: c, uses: map[*run.Value][]use{}}
	for _, g := range c.Fn.Groups {
		for k, a := range g.All() {
			n := &c.Fn.Nodes[g.Nodes[k]]
			h.note(n.In, use{g, a, false})
			h.note(n.Out, use{g, a, true})
		}
	}
	for id, v := range c.Fn.Known {
		v.Half = c.BF16(v) && !c.FourBytes && v.State == nil && !c.Fn.Keeps(graph.Value(id))
	}
	for _, v := range c.Fn.Known {
		v.Half = v.Half && h.possible(v)
	}
	for changed := true; changed; {
		changed = false
		for id, v := range c.Fn.Known {
			if v.Half && h.local(graph.Value(id), v) && !h.wanted(v) {
				v.Half, changed = false, true
			}
		}
	}
}

// note records the use of values.
func (h *halver) note(values []graph.Value, u use) {
	for _, id := range values {
		if id != graph.None {
			h.uses[h.Fn.Known[id]] = append(h.uses[h.Fn.Known[id]], u)
		}
	}
}

// possible reports whether all actions that are not by rows take v as a half.
func (h *halver) possible(v *run.Value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool {
		return !u.group.ByRows() && !u.action.Stores().Takes(v)
	})
}

// local reports whether only one group of rows knows v.
func (h *halver) local(id graph.Value, v *run.Value) bool {
	all, made := h.uses[v], false
	for _, u := range all {
		made = made || u.makes
		if u.group != all[0].group || !u.group.ByRows() {
			return false
		}
	}
	return made && !h.Fn.IsResult(id)
}

// wanted reports whether all readers of v take it as a half.
func (h *halver) wanted(v *run.Value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool { return !u.makes && !u.action.Stores().Takes(v) })
}
