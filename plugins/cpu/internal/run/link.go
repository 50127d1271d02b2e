package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// A chain is neighbouring actions in a group that let a part of a row pass through all of
// them while it is in the nearest cache. Pointwise actions read only the positions that they
// compute, so any span is suitable. An action that reads more (a 3x3 kernel: Needs) requires
// the actions before it to run ahead. The chain then has a tiling: a list of steps with the
// span of each action.
//
// 	step        conv1 (3x3)      relu         conv2 (3x3)
// 	 0          rows 0..4        0..4         0..3
// 	 1          rows 5..8        5..8         4..7
// 	 2          rows 9..10       9..10        8..10
//
// Positions computed ahead are kept until the last step that needs them. If nothing outside
// the chain reads them, a ring of a few image rows in the worker's memory is enough:
//
// 	ring of 6 rows    | 6 | 7 | 8 | 3 | 4 | 5 |     row y is stored at y mod 6

// chainer divides the actions of a group into chains.
type chainer struct {
	fn       *Function
	group    *group
	schedule schedule.Schedule
	makers   map[graph.Value][]int // the actions that make a value or its float32 copy
	ends     []int                 // for each action: last reader of its result; many if there are others
}

// many is larger than the index of any action.
const many = 1 << 30

func newChainer(fn *Function, g *group, s schedule.Schedule) *chainer {
	l := &chainer{fn: fn, group: g, schedule: s, makers: map[graph.Value][]int{},
		ends: make([]int, len(g.nodes))}
	for k := range g.actions {
		for _, v := range l.reads(k) {
			for _, maker := range l.makers[v] {
				l.ends[maker] = max(l.ends[maker], k)
			}
		}
		for _, v := range l.makes(k) {
			l.makers[v] = append(l.makers[v], k)
			if l.group.actions[k].widens == nil && leaves(fn, v, g) {
				l.ends[k] = many
			}
		}
	}
	return l
}

// leaves reports whether anything outside a group reads v.
func leaves(fn *Function, v graph.Value, g *group) bool {
	for i := range fn.graph.Nodes {
		if slices.Contains(fn.graph.Nodes[i].In, v) && !slices.Contains(g.nodes, i) {
			return true
		}
	}
	return fn.graph.IsResult(v)
}

// reads returns the values that action k reads. They may include graph.None.
func (l *chainer) reads(k int) []graph.Value {
	if x := l.group.actions[k].widens; x != nil {
		return []graph.Value{x.id}
	}
	return l.fn.graph.Nodes[l.group.nodes[k]].In
}

// makes returns the results of action k. If it only converts a half to float32, it returns that half.
func (l *chainer) makes(k int) []graph.Value {
	if x := l.group.actions[k].widens; x != nil {
		return []graph.Value{x.id}
	}
	return l.fn.graph.Nodes[l.group.nodes[k]].Out
}

// maker returns the action before k that computes v, an operand of k. It returns -1 if no action of the
// group computes v.
func (l *chainer) maker(v graph.Value, k int) int {
	last := -1
	for _, maker := range l.makers[v] {
		if maker < k {
			last = maker
		}
	}
	return last
}

// link divides the actions of the group into chains.
func (l *chainer) link() {
	for k := range l.group.actions {
		first := k
		switch {
		case k == 0 || l.group.actions[l.last().first].Span == nil:
		case l.group.actions[k].Pointwise && l.group.actions[k].Positions == l.group.actions[k-1].Positions:
			first = l.last().first
		case l.group.actions[k].Needs != nil:
			first = l.ahead(k)
		}
		if first < k {
			l.last().last = first
			if l.last().first == first {
				l.group.chains = l.group.chains[:len(l.group.chains)-1]
			}
		}
		l.group.chains = append(l.group.chains, chain{first: first, last: k + 1})
	}
	for i := range l.group.chains {
		l.complete(&l.group.chains[i])
	}
	l.overlay()
}

// last returns the chain that is still being made, which is the last one.
func (l *chainer) last() *chain { return &l.group.chains[len(l.group.chains)-1] }

// ahead returns the best first action of a chain that includes action k, which reads more of its operand
// than the positions that it computes. It returns k if the chain should not include the action that makes
// the operand. No value that is computed ahead may be read later, so that it need not be kept. What a
// step computes and the weights must fit near the core. Among the possible first actions, ahead selects
// the one that reads the least from memory. It must read less than the size of the operand of k, because
// such a chain neither writes nor reads that operand in memory.
func (l *chainer) ahead(k int) int {
	maker := l.maker(l.reads(k)[0], k)
	if maker < l.last().first || l.result(maker).size() < l.schedule.Far || l.group.actions[k].Positions == 0 {
		return k
	}
	for i := maker + 1; i < k; i++ { // results with later readers advance like the result of k
		if l.ends[i] > k && l.group.actions[i].Positions != l.group.actions[k].Positions {
			return k
		}
	}
	best, least := k, l.result(maker).size()
	inside := func(i int) bool { return l.ends[i] <= k && l.group.actions[i].Block == 0 }
	for first := maker; first >= l.last().first && inside(first); first-- {
		near := l.laneBytes(first, k+1) + l.weightBytes(first, k+1)
		if n := l.operand(first).size(); near < l.schedule.Tiling && n < least {
			best, least = first, n
		}
	}
	return best
}

// result returns the result of an action.
func (l *chainer) result(k int) *Value {
	if x := l.group.actions[k].widens; x != nil {
		return x.float
	}
	return l.fn.values[l.makes(k)[0]]
}

// operand returns the first operand of an action.
func (l *chainer) operand(k int) *Value { return l.fn.values[l.reads(k)[0]] }

// laneBytes returns the maximum number of bytes that the results of actions [first, last) have in use at a
// time, if they are one chain.
func (l *chainer) laneBytes(first, last int) (n int) {
	c := l.tiling(first, last)
	for k := first; k < last-1; k++ {
		n += c.maxPositions(k-first) * l.group.actions[k].Width * 4
	}
	return n
}

// weightBytes returns the bytes of those operands of the actions [first, last) that are not rows, for
// example weights. Every step of a tiling reads them again.
func (l *chainer) weightBytes(first, last int) (n int) {
	for k := first; k < last; k++ {
		for _, v := range l.reads(k) {
			if v != graph.None && l.fn.values[v].Kind != graph.Rows {
				n += l.fn.values[v].size()
			}
		}
	}
	return n
}

// tiling returns the steps of a chain. A step computes a part of the last result. The number of steps can
// be divided evenly among workers.
func (l *chainer) tiling(first, last int) tiling {
	end := l.group.actions[last-1]
	unit, bytes := 1, 0
	for _, a := range l.group.actions[first:last] {
		if a.Positions == end.Positions {
			unit = unit / gcd(unit, a.unit()) * a.unit()
		}
		bytes += 4 * a.Width * a.Positions / end.Positions
	}
	units, some := (end.Positions+unit-1)/unit, max(1, l.schedule.Step/max(bytes*unit, 1))
	n := min(units, (units+some*evenSteps-1)/(some*evenSteps)*evenSteps)
	c := make(tiling, n)
	for i := range c {
		c[i] = l.step(first, last, span{from: end.wholeSteps(units * i / n * unit),
			to: end.wholeSteps(units * (i + 1) / n * unit)})
	}
	return c
}

// evenSteps divides the number of steps, so that up to that many workers get equal shares.
const evenSteps = 4

// step returns the spans that all actions must compute so that the last one can compute span s.
func (l *chainer) step(first, last int, s span) []span {
	all := make([]span, last-first)
	all[last-1-first] = s
	for k := last - 1; k >= first; k-- {
		s, a := &all[k-first], l.group.actions[k]
		if s.to == 0 { // no later action of the chain reads the result
			*s = all[len(all)-1]
		}
		unit := a.unit()
		s.from, s.to = s.from/unit*unit, a.wholeSteps(s.to)
		for i, v := range l.reads(k) {
			needed := *s
			if i == 0 && a.Needs != nil {
				needed.from, needed.to = a.Needs(s.from, s.to)
			}
			for _, maker := range l.makers[v] {
				if maker >= first && maker < k {
					all[maker-first] = all[maker-first].join(needed)
				}
			}
		}
	}
	return all
}

// complete finishes a chain. If actions read more than the positions that they compute, it
// makes a tiling of the chain. Values that only the chain reads are then private to the
// worker, and are kept in a ring with the positions that a step needs if the actions
// support rings.
func (l *chainer) complete(c *chain) {
	if !slices.ContainsFunc(l.group.actions[c.first+1:c.last], func(a *ByRows) bool { return a.Needs != nil }) {
		return
	}
	c.tiling = l.tiling(c.first, c.last)
	for k := c.first; k < c.last; k++ {
		v := l.result(k)
		if l.ends[k] >= c.last || v.Kind != graph.Rows {
			continue
		}
		v.private = true
		for _, x := range l.group.wides {
			x.float.private = x.float.private || x.half == v
		}
		row := v.ImageRow()
		if rows := (c.tiling.maxPositions(k-c.first) + row - 1) / row; rows*row < v.Positions && l.inTurn(k) {
			v.Ring = rows * row
		}
	}
}

// inTurn reports whether the result of action k may be a ring. This requires that the
// action reads no other rows than its first operand, that all its readers read it only as
// their first operand, and that all of them support rings.
func (l *chainer) inTurn(k int) bool {
	if !l.group.actions[k].Rings || l.inputs(k) != 1 {
		return false
	}
	for r := k + 1; r <= l.ends[k]; r++ {
		for i, v := range l.reads(r) {
			if slices.Contains(l.makers[v], k) && (i > 0 || !l.group.actions[r].Rings) {
				return false
			}
		}
	}
	return true
}

// inputs returns the number of operands of action k that are rows.
func (l *chainer) inputs(k int) (n int) {
	for _, v := range l.reads(k) {
		if v != graph.None && l.fn.values[v].Kind == graph.Rows {
			n++
		}
	}
	return n
}
