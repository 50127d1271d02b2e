package plan

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// linker divides the actions of a group into chains.
type linker struct {
	fn *run.Function
	*run.Group
	schedule.Schedule
	makers map[graph.Value][]int // the actions that make a value, and its wide
	ends   []int                 // by action: the last that reads its result; many if others do, too
}

// many is more than the actions of a group.
const many = 1 << 30

func newLinker(fn *run.Function, g *run.Group, s schedule.Schedule) *linker {
	l := &linker{fn: fn, Group: g, Schedule: s, makers: map[graph.Value][]int{}, ends: make([]int, len(g.Nodes))}
	for k := range g.Actions {
		for _, v := range l.reads(k) {
			for _, maker := range l.makers[v] {
				l.ends[maker] = max(l.ends[maker], k)
			}
		}
		for _, v := range l.makes(k) {
			l.makers[v] = append(l.makers[v], k)
			if l.Actions[k].Widens == nil && leaves(fn, v, g) {
				l.ends[k] = many
			}
		}
	}
	return l
}

// leaves reports whether anything outside a group reads v.
func leaves(fn *run.Function, v graph.Value, g *run.Group) bool {
	for i := range fn.Nodes {
		if slices.Contains(fn.Nodes[i].In, v) && !slices.Contains(g.Nodes, i) {
			return true
		}
	}
	return fn.IsResult(v)
}

// reads returns the values that action k reads, None among them.
func (l *linker) reads(k int) []graph.Value {
	if x := l.Actions[k].Widens; x != nil {
		return []graph.Value{x.Id}
	}
	return l.fn.Nodes[l.Nodes[k]].In
}

// makes returns the values that action k makes, or that whose wide it makes.
func (l *linker) makes(k int) []graph.Value {
	if x := l.Actions[k].Widens; x != nil {
		return []graph.Value{x.Id}
	}
	return l.fn.Nodes[l.Nodes[k]].Out
}

// maker returns the action before k that makes what k reads as v, -1 if it comes
// from elsewhere.
func (l *linker) maker(v graph.Value, k int) int {
	last := -1
	for _, maker := range l.makers[v] {
		if maker < k {
			last = maker
		}
	}
	return last
}

// link makes the chains.
func (l *linker) link() {
	for k := range l.Actions {
		first := k
		switch {
		case k == 0 || l.Actions[l.last().First].Span == nil:
		case l.Actions[k].Pointwise && l.Actions[k].Positions == l.Actions[k-1].Positions:
			first = l.last().First
		case l.Actions[k].Needs != nil:
			first = l.ahead(k)
		}
		if first < k {
			l.last().Last = first
			if l.last().First == first {
				l.Chains = l.Chains[:len(l.Chains)-1]
			}
		}
		l.Chains = append(l.Chains, run.Chain{First: first, Last: k + 1})
	}
	for i := range l.Chains {
		l.settle(&l.Chains[i])
	}
}

// last returns the chain that is being made.
func (l *linker) last() *run.Chain { return &l.Chains[len(l.Chains)-1] }

// ahead returns where a chain that includes action k, which sees more of its
// operand than its own positions, should begin; k if it should not include the
// action that makes the operand. Nothing that is computed ahead may be read
// later: then it need not be kept. Of the possible beginnings the one that reads
// the least from memory is best.
func (l *linker) ahead(k int) int {
	maker := l.maker(l.reads(k)[0], k)
	if maker < l.last().First || l.result(maker).Size() < l.Far || l.Actions[k].Positions == 0 {
		return k
	}
	best, least := k, l.Course
	for first := maker; first >= l.last().First && l.ends[first] <= k && l.Actions[first].Block == 0; first-- {
		if n := l.operand(first).Size() + l.held(first, k+1); n < least {
			best, least = first, n
		}
	}
	return best
}

// result returns the result of an action.
func (l *linker) result(k int) *run.Value {
	if x := l.Actions[k].Widens; x != nil {
		return x.Float
	}
	return l.fn.Known[l.makes(k)[0]]
}

// operand returns the first operand of an action.
func (l *linker) operand(k int) *run.Value { return l.fn.Known[l.reads(k)[0]] }

// held returns the bytes of results of the actions [first, last), as a chain,
// that have to be there at a time.
func (l *linker) held(first, last int) (n int) {
	c := l.course(first, last)
	for k := first; k < last-1; k++ {
		n += c.Most(k-first) * l.Actions[k].Width * 4
	}
	return n
}

// course returns the steps of a chain: some parts of its last result, as many as
// may be dealt to workers evenly.
func (l *linker) course(first, last int) run.Course {
	end := l.Actions[last-1]
	unit, bytes := 1, 0
	for _, a := range l.Actions[first:last] {
		if a.Positions == end.Positions {
			unit = unit / run.Divisor(unit, a.Unit()) * a.Unit()
		}
		bytes += 4 * a.Width * a.Positions / end.Positions
	}
	units, some := (end.Positions+unit-1)/unit, max(1, l.Step/max(bytes*unit, 1))
	n := min(units, (units+some*evenSteps-1)/(some*evenSteps)*evenSteps)
	c := make(run.Course, n)
	for i := range c {
		c[i] = l.step(first, last, run.Stretch{From: end.Whole(units * i / n * unit),
			To: end.Whole(units * (i + 1) / n * unit)})
	}
	return c
}

// evenSteps is a number of workers that should find as much to do each.
const evenSteps = 4

// step returns what every action has to compute so that the last one can
// compute s.
func (l *linker) step(first, last int, s run.Stretch) []run.Stretch {
	all := make([]run.Stretch, last-first)
	all[last-1-first] = s
	for k := last - 1; k >= first; k-- {
		s, a := &all[k-first], l.Actions[k]
		if s.To == 0 { // nobody in the chain reads it
			*s = all[len(all)-1]
		}
		unit := a.Unit()
		s.From, s.To = s.From/unit*unit, a.Whole(s.To)
		for i, v := range l.reads(k) {
			needed := *s
			if i == 0 && a.Needs != nil {
				needed.From, needed.To = a.Needs(s.From, s.To)
			}
			for _, maker := range l.makers[v] {
				if maker >= first && maker < k {
					all[maker-first] = all[maker-first].Join(needed)
				}
			}
		}
	}
	return all
}

// settle completes a chain: where actions see more than their own positions, it
// makes a course of it. What only the chain reads is then the worker's own,
// and no more of it is kept than a step needs, in turn, if the actions can do that.
func (l *linker) settle(c *run.Chain) {
	if !slices.ContainsFunc(l.Actions[c.First+1:c.Last], func(a *run.ByRows) bool { return a.Needs != nil }) {
		return
	}
	c.Course = l.course(c.First, c.Last)
	for k := c.First; k < c.Last; k++ {
		v := l.result(k)
		if l.ends[k] >= c.Last || v.Kind != graph.Rows {
			continue
		}
		v.Own = true
		for _, x := range l.Wides {
			x.Float.Own = x.Float.Own || x.Half == v
		}
		if rows := (c.Course.Most(k-c.First) + v.Row() - 1) / v.Row(); rows*v.Row() < v.Positions && l.inTurn(k) {
			v.Ring = rows * v.Row()
		}
	}
}

// inTurn reports whether the result of action k may be a ring: if the action, which reads no other
// rows than its first operand, and all that read it, as their first operand alone, can do that.
func (l *linker) inTurn(k int) bool {
	if !l.Actions[k].Rings || l.inputs(k) != 1 {
		return false
	}
	for r := k + 1; r <= l.ends[k]; r++ {
		for i, v := range l.reads(r) {
			if slices.Contains(l.makers[v], k) && (i > 0 || !l.Actions[r].Rings) {
				return false
			}
		}
	}
	return true
}

// inputs returns how many operands of action k are rows.
func (l *linker) inputs(k int) (n int) {
	for _, v := range l.reads(k) {
		if v != graph.None && l.fn.Known[v].Kind == graph.Rows {
			n++
		}
	}
	return n
}
