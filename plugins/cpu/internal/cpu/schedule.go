package cpu

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// scheduler gathers nodes into groups. Actions by rows are put together;
// others that nothing in the group waits for are put off till it ends.
type scheduler struct {
	fn      *function
	follows map[graph.Value]bool // all-reduces that belong to the one before
	closing map[graph.Value]bool // all-reduces whose results no node reads
	groups  []*group
	last    *group               // of all-reduces
	rows    *group               // being gathered
	later   []*group             // put off
	made    map[graph.Value]bool // by later, or by rows when they are finished
}

// schedule returns the groups of a function whose nodes have these actions.
func schedule(fn *function, actions []action, follows, closing map[graph.Value]bool) []*group {
	s := &scheduler{fn: fn, follows: follows, closing: closing, rows: &group{rows: true}, made: map[graph.Value]bool{}}
	for i, a := range actions {
		s.add(i, a)
	}
	s.flush()
	return s.groups
}

// add puts node i where it belongs.
func (s *scheduler) add(i int, a action) {
	n := &s.fn.Nodes[i]
	switch {
	case n.Op == graph.AllReduce:
		s.reduce(i, a)
	case a.row == nil:
		s.later = append(s.later, &group{nodes: []int{i}, actions: []action{a}})
		s.mark(n, true)
	default:
		if slices.ContainsFunc(n.In, func(v graph.Value) bool { return s.made[v] }) {
			s.flush()
		}
		s.rows.nodes, s.rows.actions = append(s.rows.nodes, i), append(s.rows.actions, a)
		s.mark(n, false)
	}
}

// reduce adds an all-reduce: those that follow each other are one group. What
// no node waits for is put off.
func (s *scheduler) reduce(i int, a action) {
	result := s.fn.Nodes[i].Out[0]
	if s.follows[result] {
		s.last.nodes = append(s.last.nodes, i)
		return
	}
	s.last = &group{nodes: []int{i}, actions: []action{a}}
	if s.closing[result] {
		s.later = append(s.later, s.last)
		return
	}
	s.flush()
	s.groups = append(s.groups, s.last)
}

// mark records which results of n are there only after a flush.
func (s *scheduler) mark(n *graph.Node, all bool) {
	for _, v := range n.Out {
		s.made[v] = all || s.fn.values[v].Kind != graph.Rows
	}
}

// flush ends the group of rows, and then does what was put off.
func (s *scheduler) flush() {
	if len(s.rows.nodes) > 0 {
		s.rows.chains = chains(s.rows.actions)
		s.groups = append(s.groups, s.rows)
	}
	s.groups = append(s.groups, s.later...)
	s.rows, s.later = &group{rows: true}, nil
	clear(s.made)
}
