package plan

import (
	"maps"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// scheduler gathers nodes into groups. Actions by rows are put together;
// others that nothing in the group waits for are put off till it ends.
type scheduler struct {
	fn      *run.Function
	follows map[graph.Value]bool // all-reduces that belong to the one before
	closing map[graph.Value]bool // all-reduces whose results no node reads
	groups  []*run.Group
	rows    *run.Group           // being gathered
	later   []*run.Group         // put off
	made    map[graph.Value]bool // by later, or by rows when they are finished
}

// gather returns the groups of a function whose nodes have these actions.
func gather(fn *run.Function, actions []run.Action, follows, closing map[graph.Value]bool) []*run.Group {
	s := &scheduler{fn: fn, follows: follows, closing: closing, rows: &run.Group{},
		made: map[graph.Value]bool{}}
	for i, a := range actions {
		s.add(i, a)
	}
	s.flush()
	return s.groups
}

// add puts node i where it belongs.
func (s *scheduler) add(i int, a run.Action) {
	n := &s.fn.Nodes[i]
	switch a := a.(type) {
	case nil: // it is part of the exchange before
	case *run.Exchange:
		s.reduce(i, a)
	case *run.AtOnce:
		s.later = append(s.later, &run.Group{Nodes: []int{i}, Alone: a})
		s.mark(n, true)
	case *run.ByRows:
		if slices.ContainsFunc(n.In, func(v graph.Value) bool { return s.made[v] }) {
			s.flush()
		}
		s.rows.Nodes, s.rows.Actions = append(s.rows.Nodes, i), append(s.rows.Actions, a)
		s.mark(n, false)
	}
}

// reduce adds an all-reduce: those that follow each other are one group. What
// no node waits for is put off. Else the exchange begins, what was put off and
// does not concern it is done, and then it is waited for.
func (s *scheduler) reduce(i int, a *run.Exchange) {
	result := s.fn.Nodes[i].Out[0]
	nodes := []int{i}
	for k := i + 1; k < len(s.fn.Nodes) && len(s.fn.Nodes[k].Out) > 0 && s.follows[s.fn.Nodes[k].Out[0]]; k++ {
		nodes = append(nodes, k)
	}
	start := &run.Group{Nodes: nodes, Alone: a}
	if s.closing[result] {
		s.later = append(s.later, start)
		return
	}
	var besides []*run.Group
	s.later, besides = s.concern(nodes)
	s.flush()
	s.groups = append(append(s.groups, start), besides...)
	s.groups = append(s.groups, &run.Group{Nodes: nodes, Alone: run.Whole(a.Await)})
}

// concern divides what was put off into what has to come before the all-reduces
// of an exchange, because it makes or reads their operands or is an exchange
// itself, which come in one order, and what has nothing to do with them.
func (s *scheduler) concern(nodes []int) (before, besides []*run.Group) {
	operands, needed := map[graph.Value]bool{}, map[graph.Value]bool{}
	need := func(nodes []int) {
		for _, i := range nodes {
			for _, v := range s.fn.Nodes[i].In {
				needed[v] = true
			}
		}
	}
	need(nodes)
	maps.Copy(operands, needed)
	for k := len(s.later) - 1; k >= 0; k-- {
		g := s.later[k]
		n := &s.fn.Nodes[g.Nodes[0]]
		reads := slices.ContainsFunc(n.In, func(v graph.Value) bool { return operands[v] })
		makes := slices.ContainsFunc(n.Out, func(v graph.Value) bool { return needed[v] })
		if n.Op == graph.AllReduce || reads || makes {
			need(g.Nodes)
			before = append(before, g)
		} else {
			besides = append(besides, g)
		}
	}
	slices.Reverse(before)
	slices.Reverse(besides)
	return before, besides
}

// mark records which results of n are there only after a flush.
func (s *scheduler) mark(n *graph.Node, all bool) {
	for _, v := range n.Out {
		s.made[v] = all || s.fn.Known[v].Kind != graph.Rows
	}
}

// flush ends the group of rows, and then does what was put off.
func (s *scheduler) flush() {
	if len(s.rows.Nodes) > 0 {
		s.groups = append(s.groups, s.rows)
	}
	s.groups = append(s.groups, s.later...)
	s.rows, s.later = &run.Group{}, nil
	clear(s.made)
}
