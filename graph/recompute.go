package graph

import (
	"fmt"
	"slices"
)

// Recompute returns f, a training function, rewritten so that it keeps fewer values of its
// forward pass: the forward pass is cut into segments, and the values inside of a segment
// are computed a second time when the backward pass needs them (Chen, Xu, Zhang, Guestrin
// 2016). No result changes: the same operations run on the same operands, and sums over
// rows are never repeated. It tries segments of equal size, selects those with the least
// ActivationBytes, and adds and removes single cuts while that reduces them. It returns f
// itself if no segments need less. state is the table of f. rounded reports the types that
// a device rounds when it stores a value, but not when it fuses the value away; it may be
// nil.
func Recompute(f *Function, state []State, rounded func(Type) bool) (*Function, error) {
	const most = 32
	s := &search{f: f, state: state, backward: f.backward(), best: f, smallest: f.ActivationBytes()}
	s.fusions = newFusions(f, s.backward, rounded)
	stored := s.stored()
	for segments := 1; segments <= most; segments++ {
		s.try(s.even(segments, func(Value) bool { return true }))
		s.try(s.even(segments, func(v Value) bool { return stored[v] }))
	}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; !s.backward[i] && s.cuts != nil && slices.ContainsFunc(n.Out,
			func(v Value) bool { return stored[v] }) {
			cuts := slices.Clone(s.cuts)
			cuts[i] = !cuts[i]
			s.try(cuts)
		}
	}
	return s.best, s.err
}

// search looks for the best cuts. Cuts say for each node whether a segment ends with it.
type search struct {
	f        *Function
	state    []State
	backward []bool // whether each node is in the backward pass
	best     *Function
	cuts     []bool // cuts of best; nil if best is f
	smallest int    // ActivationBytes of best
	err      error

	fusions *fusions
}

// try makes the function with these cuts, and keeps it if it is the best so far.
func (s *search) try(cuts []bool) {
	if s.err != nil {
		return
	}
	again := s.f.nodesBetween(s.backward, cuts)
	s.fusions.preserve(again)
	g, err := s.f.recomputed(s.state, s.backward, again)
	if err != nil {
		s.err = fmt.Errorf("recompute: %w", err)
		return
	}
	if bytes := g.ActivationBytes(); bytes < s.smallest {
		s.best, s.cuts, s.smallest = g, cuts, bytes
	}
}

// stored reports for each value of the forward pass whether the backward pass reads it.
func (s *search) stored() []bool {
	stored := make([]bool, len(s.f.Values))
	for i := range s.f.Nodes {
		for _, v := range s.f.Nodes[i].In {
			if v != None && s.backward[i] && s.f.rowBytes(v) > 0 {
				stored[v] = true
			}
		}
	}
	return stored
}

// even returns cuts that divide the nodes into segments with equal numbers of bytes. It adds up the bytes of
// the values that count.
func (s *search) even(segments int, counts func(v Value) bool) []bool {
	sums, total := make([]int, len(s.f.Nodes)), 0
	for i := range s.f.Nodes {
		for _, v := range s.f.Nodes[i].Out {
			if !s.backward[i] && counts(v) {
				total += s.f.rowBytes(v)
			}
		}
		sums[i] = total
	}
	cuts := make([]bool, len(s.f.Nodes))
	for i := range cuts[:max(len(cuts)-1, 0)] {
		cuts[i] = sums[i]*segments/(total+1) != sums[i+1]*segments/(total+1)
	}
	return cuts
}

// ActivationBytes returns the peak memory for the values of one row, in bytes. It assumes a
// device that computes row by row up to each node that needs all rows, so a value that is
// made and read between two of these nodes needs no memory.
func (f *Function) ActivationBytes() int {
	pass := f.passes()
	first, last, stored := make([]int, len(f.Values)), make([]int, len(f.Values)), make([]bool, len(f.Values))
	for _, v := range f.results() {
		stored[v], last[v] = true, len(f.Nodes)
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for _, v := range n.Out {
			first[v] = pass[i]
		}
		for _, v := range n.In {
			if v != None {
				last[v] = max(last[v], pass[i])
				stored[v] = stored[v] || pass[i] > first[v] || !f.byRow(n)
			}
		}
	}
	bytes := make([]int, len(f.Nodes)+1) // bytes of each pass
	for v := range f.Values {
		for p := first[v]; stored[v] && p <= min(last[v], len(f.Nodes)); p++ {
			bytes[p] += f.rowBytes(Value(v))
		}
	}
	return slices.Max(bytes)
}

// passes returns for every node how many barriers precede it. A barrier is a point at which
// all rows must be complete, because a node reads a result over all rows.
func (f *Function) passes() []int {
	pass, made := 0, map[Value]bool{}
	passes, users := make([]int, len(f.Nodes)), f.Users()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		waits := n.Op != AllReduce || len(users[n.Out[0]]) > 0
		if waits && slices.ContainsFunc(n.In, func(v Value) bool { return made[v] }) {
			pass++
			clear(made)
		}
		passes[i] = pass
		for _, v := range n.Out {
			made[v] = f.Values[v].Type.Kind != Rows
		}
	}
	return passes
}

// byRow reports whether a device computes n while a row passes.
func (f *Function) byRow(n *Node) bool {
	switch n.Op {
	case Moments, NormaliseGradSums, ChannelSum, SoftmaxXent, Correct:
		return true
	}
	return slices.ContainsFunc(n.Out, func(v Value) bool { return f.Values[v].Type.Kind == Rows })
}

// rowBytes returns the size of a row of v, or 0 for a value without rows.
func (f *Function) rowBytes(v Value) int {
	t := f.Values[v].Type
	if t.Kind != Rows {
		return 0
	}
	return t.elements() * t.DType.Size()
}

// lastUses returns for each value the index of the last selected node that reads it. It is len(Nodes) for
// values that leave the function, and 0 if no selected node reads the value.
func (f *Function) lastUses(meant func(node int) bool) []int {
	last := make([]int, len(f.Values))
	for i := range f.Nodes {
		for _, v := range f.Nodes[i].In {
			if v != None && meant(i) {
				last[v] = i
			}
		}
	}
	for _, v := range f.results() {
		last[v] = len(f.Nodes)
	}
	return last
}

// backward reports for every node whether it depends on the gradient of a loss.
func (f *Function) backward() []bool {
	nodes, values := make([]bool, len(f.Nodes)), make([]bool, len(f.Values))
	for i := range f.Nodes {
		n := &f.Nodes[i]
		nodes[i] = n.Op == SoftmaxXentGrad ||
			slices.ContainsFunc(n.In, func(v Value) bool { return v != None && values[v] })
		for _, v := range n.Out {
			values[v] = nodes[i]
		}
	}
	return nodes
}

// recomputed returns f with some nodes of its forward pass computed again. repeated has these nodes by their
// results.
func (f *Function) recomputed(state []State, backward []bool, repeated map[Value]*Node) (*Function, error) {
	r := &recomputing{Copier: NewCopier(f, NewBuilder(f.Name, &state)), repeated: repeated}
	r.Inputs()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if backward[i] {
			for _, v := range n.In {
				r.repeat(v)
			}
		}
		r.Copy(n)
	}
	r.Outputs()
	return r.Builder.Function()
}

// nodesBetween returns the nodes of the forward pass that a backward pass computes again, by result: the
// nodes with rows, except those with a result that another segment reads. cuts divide the pass into
// segments.
func (f *Function) nodesBetween(backward, cuts []bool) map[Value]*Node {
	segment, at := make([]int, len(f.Nodes)), 0
	for i := range f.Nodes {
		if segment[i] = at; cuts[i] {
			at++
		}
	}
	last := f.lastUses(func(i int) bool { return !backward[i] })
	again := map[Value]*Node{}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if backward[i] || len(n.Out) != 1 || f.rowBytes(n.Out[0]) == 0 {
			continue
		}
		if v := n.Out[0]; last[v] < len(f.Nodes) && segment[max(last[v], i)] == segment[i] {
			again[v] = n
		}
	}
	return again
}

// recomputing copies a function and redirects its backward pass to recomputed values.
type recomputing struct {
	Copier
	repeated map[Value]*Node // nodes that are still to be computed again, by value
}
