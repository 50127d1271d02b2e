package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// At precision device.BF16 a value that is stored as bfloat16 may be a half, with two bytes
// per element. Halves reduce memory, and the traffic through the caches between groups, by
// half. In the arena every value is a half unless an action that is not by rows accepts it
// only as float32. In the memory of a lane a value is a half if all its readers accept
// halves. This changes no bit: a float32 with a bfloat16 value is converted to a half and
// back without loss.
//
// Actions list the operands and results that they accept as halves (AsHalves). For any
// other half a float32 copy of the row is stored in the lane: see widen.go.

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

// note records that u uses these values.
func (h *halver) note(values []graph.Value, u use) {
	for _, id := range values {
		if id != graph.None {
			h.uses[h.linker.fn.values[id]] = append(h.uses[h.linker.fn.values[id]], u)
		}
	}
}

// possible reports whether v can be a half: all actions that are not by rows accept that.
func (h *halver) possible(v *Value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool {
		return !u.group.byRows() && !u.action.Stores().takes(v)
	})
}

// local reports whether v is used in only one group of rows.
func (h *halver) local(id graph.Value, v *Value) bool {
	all, made := h.uses[v], false
	for _, u := range all {
		made = made || u.makes
		if u.group != all[0].group || !u.group.byRows() {
			return false
		}
	}
	return made && !h.linker.fn.graph.IsResult(id)
}

// wanted reports whether all readers of v accept it as a half.
func (h *halver) wanted(v *Value) bool {
	return !slices.ContainsFunc(h.uses[v], func(u use) bool { return !u.makes && !u.action.Stores().takes(v) })
}
