package run

import (
	"maps"
	"slices"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
)

// Gathering changes the order of nodes, but never their dependencies. Actions by rows join
// one group until an action needs a complete result of that group. An AtOnce action is
// deferred until the group ends, and an exchange until its operands are complete:
//
// 	nodes    a(rows) b(rows) W(at once, reads b) c(rows) s(sums of c) X(exchange of s) d(rows, reads X)
// 	groups   [a b c s] [X begins] [W] [X is awaited] [d]
//
// W runs while the exchange is in progress. Exchanges of gradients, which no node of the
// function reads, are awaited at its end (Frame.awaitAll).

// scheduler gathers nodes into groups. Actions by rows are collected in one group; other
// actions are deferred until the group ends, unless a node of the group waits for them.
type scheduler struct {
	fn      *Function
	groups  []*group
	rows    *group               // group of rows that nodes are still added to
	later   []*group             // groups that are deferred until then
	pending map[graph.Value]bool // results that are complete only after a flush
}

// gather divides the nodes of a function into groups. actions has the action of each node.
func gather(fn *Function, actions []Action) []*group {
	s := &scheduler{fn: fn, rows: &group{}, pending: map[graph.Value]bool{}}
	for i, a := range actions {
		s.add(i, a)
	}
	s.flush()
	return s.groups
}

// add adds node i to the current group of rows, to the deferred groups, or to a new group.
func (s *scheduler) add(i int, a Action) {
	n := &s.fn.graph.Nodes[i]
	switch a := a.(type) {
	case nil: // the node is part of the previous exchange
	case *Exchange:
		s.reduce(a)
	case *AtOnce:
		s.later = append(s.later, &group{nodes: []int{i}, whole: a})
		s.mark(n, true)
	case *ByRows:
		if slices.ContainsFunc(n.In, func(v graph.Value) bool { return s.pending[v] }) {
			s.flush()
		}
		s.rows.nodes, s.rows.actions = append(s.rows.nodes, i), append(s.rows.actions, a)
		s.mark(n, false)
	}
}

// reduce adds an all-reduce. Consecutive all-reduces form one group. If no node waits for
// them, they are deferred. Otherwise the exchange starts, deferred work unrelated to it
// runs, and then the exchange is awaited.
func (s *scheduler) reduce(a *Exchange) {
	start := &group{nodes: a.nodes, whole: a}
	if a.lane == collective.Gradients {
		s.later = append(s.later, start)
		return
	}
	var unrelated []*group
	s.later, unrelated = s.concern(a.nodes)
	s.flush()
	s.groups = append(append(s.groups, start), unrelated...)
	s.groups = append(s.groups, &group{nodes: a.nodes, whole: Whole((*Frame).await)})
}

// concern divides the deferred groups in two lists. Groups in before must run before the all-reduces of an
// exchange, because they make or read their operands, or are exchanges, which must keep their order. Groups
// in unrelated have no connection with these all-reduces.
func (s *scheduler) concern(nodes []int) (before, unrelated []*group) {
	operands, needed := map[graph.Value]bool{}, map[graph.Value]bool{}
	need := func(nodes []int) {
		for _, i := range nodes {
			for _, v := range s.fn.graph.Nodes[i].In {
				needed[v] = true
			}
		}
	}
	need(nodes)
	maps.Copy(operands, needed)
	for k := len(s.later) - 1; k >= 0; k-- {
		g := s.later[k]
		n := &s.fn.graph.Nodes[g.nodes[0]]
		reads := slices.ContainsFunc(n.In, func(v graph.Value) bool { return operands[v] })
		makes := slices.ContainsFunc(n.Out, func(v graph.Value) bool { return needed[v] })
		if n.Op == graph.AllReduce || reads || makes {
			need(g.nodes)
			before = append(before, g)
		} else {
			unrelated = append(unrelated, g)
		}
	}
	slices.Reverse(before)
	slices.Reverse(unrelated)
	return before, unrelated
}

// mark records results of n that are incomplete until a flush.
func (s *scheduler) mark(n *graph.Node, values bool) {
	for _, v := range n.Out {
		s.pending[v] = values || s.fn.values[v].Kind != graph.Rows
	}
}

// flush ends the group of rows and then adds the deferred groups.
func (s *scheduler) flush() {
	if len(s.rows.nodes) > 0 {
		s.groups = append(s.groups, s.rows)
	}
	s.groups = append(s.groups, s.later...)
	s.rows, s.later = &group{}, nil
	clear(s.pending)
}
