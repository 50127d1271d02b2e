package cpu

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// linker divides the actions of a group into chains.
type linker struct {
	fn *function
	*group
	makers map[graph.Value][]int // the actions that make a value, and its wide
	ends   []int                 // by action: the last that reads its result; many if others do, too
}

// many is more than the actions of a group.
const many = 1 << 30

func newLinker(fn *function, g *group) *linker {
	l := &linker{fn: fn, group: g, makers: map[graph.Value][]int{}, ends: make([]int, len(g.nodes))}
	for k := range g.actions {
		for _, v := range l.reads(k) {
			for _, maker := range l.makers[v] {
				l.ends[maker] = max(l.ends[maker], k)
			}
		}
		for _, v := range l.makes(k) {
			l.makers[v] = append(l.makers[v], k)
			if l.actions[k].widens == nil && fn.leaves(v, g) {
				l.ends[k] = many
			}
		}
	}
	return l
}

// leaves reports whether anything outside a group reads v.
func (fn *function) leaves(v graph.Value, g *group) bool {
	for i := range fn.Nodes {
		if slices.Contains(fn.Nodes[i].In, v) && !slices.Contains(g.nodes, i) {
			return true
		}
	}
	return fn.isResult(v)
}

// reads returns the values that action k reads, None among them.
func (l *linker) reads(k int) []graph.Value {
	if x := l.actions[k].widens; x != nil {
		return []graph.Value{x.id}
	}
	return l.fn.Nodes[l.nodes[k]].In
}

// makes returns the values that action k makes, or that whose wide it makes.
func (l *linker) makes(k int) []graph.Value {
	if x := l.actions[k].widens; x != nil {
		return []graph.Value{x.id}
	}
	return l.fn.Nodes[l.nodes[k]].Out
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
	for k := range l.actions {
		first := k
		switch {
		case k == 0 || l.actions[l.last().first].span == nil:
		case l.actions[k].pointwise && l.actions[k].positions == l.actions[k-1].positions:
			first = l.last().first
		case l.actions[k].needs != nil:
			first = l.ahead(k)
		}
		if first < k {
			l.last().last = first
			if l.last().first == first {
				l.chains = l.chains[:len(l.chains)-1]
			}
		}
		l.chains = append(l.chains, chain{first: first, last: k + 1})
	}
	for i := range l.chains {
		l.settle(&l.chains[i])
	}
}

// last returns the chain that is being made.
func (l *linker) last() *chain { return &l.chains[len(l.chains)-1] }

// ahead returns where a chain that includes action k, which sees more of its
// operand than its own positions, should begin; k if it should not include the
// action that makes the operand. Nothing that is computed ahead may be read
// later: then it need not be kept. Of the possible beginnings the one that reads
// the least from memory is best.
func (l *linker) ahead(k int) int {
	maker := l.maker(l.reads(k)[0], k)
	if maker < l.last().first || l.result(maker).size() < farBytes || l.actions[k].positions == 0 {
		return k
	}
	best, least := k, farMost
	for first := maker; first >= l.last().first && l.ends[first] <= k && l.actions[first].block == 0; first-- {
		if n := l.operand(first).size() + l.held(first, k+1); n < least {
			best, least = first, n
		}
	}
	return best
}

const (
	// farBytes is the size of an image that is better not written and read again as a whole.
	farBytes = 256 << 10
	// farMost is what the cache of a core may hold of a chain in all, with what it reads.
	farMost = 1 << 20
)

// result returns the result of an action.
func (l *linker) result(k int) *value {
	if x := l.actions[k].widens; x != nil {
		return x.float
	}
	return l.fn.values[l.makes(k)[0]]
}

// operand returns the first operand of an action.
func (l *linker) operand(k int) *value { return l.fn.values[l.reads(k)[0]] }

// held returns the bytes of results of the actions [first, last), as a chain,
// that have to be there at a time.
func (l *linker) held(first, last int) (n int) {
	c := l.course(first, last)
	for k := first; k < last-1; k++ {
		n += c.most(k-first) * l.actions[k].width * 4
	}
	return n
}

// course returns the steps of a chain: some parts of its last result, as many as
// may be dealt to workers evenly.
func (l *linker) course(first, last int) course {
	end := &l.actions[last-1]
	unit, bytes := 1, 0
	for _, a := range l.actions[first:last] {
		if a.positions == end.positions {
			unit = unit / divisor(unit, a.unit()) * a.unit()
		}
		bytes += 4 * a.width * a.positions / end.positions
	}
	units, some := (end.positions+unit-1)/unit, max(1, stepBytes/max(bytes*unit, 1))
	n := min(units, (units+some*evenSteps-1)/(some*evenSteps)*evenSteps)
	c := make(course, n)
	for i := range c {
		c[i] = l.step(first, last, stretch{units * i / n * unit, min(units*(i+1)/n*unit, end.positions)})
	}
	return c
}

const (
	// stepBytes is about how much a step of a course should compute.
	stepBytes = 320 << 10
	// evenSteps is a number of workers that should find as much to do each.
	evenSteps = 4
)

// step returns what every action has to compute so that the last one can
// compute s.
func (l *linker) step(first, last int, s stretch) []stretch {
	all := make([]stretch, last-first)
	all[last-1-first] = s
	for k := last - 1; k >= first; k-- {
		s, a := &all[k-first], &l.actions[k]
		if s.to == 0 { // nobody in the chain reads it
			*s = all[len(all)-1]
		}
		unit := a.unit()
		s.from, s.to = s.from/unit*unit, min((s.to+unit-1)/unit*unit, a.positions)
		for i, v := range l.reads(k) {
			needed := *s
			if i == 0 && a.needs != nil {
				needed.from, needed.to = a.needs(s.from, s.to)
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

// settle completes a chain: where actions see more than their own positions, it
// makes a course of it. What only the chain reads is then the worker's own,
// and no more of it is kept than a step needs, in turn, if the actions can do that.
func (l *linker) settle(c *chain) {
	if !slices.ContainsFunc(l.actions[c.first+1:c.last], func(a action) bool { return a.needs != nil }) {
		return
	}
	c.course = l.course(c.first, c.last)
	for k := c.first; k < c.last; k++ {
		v := l.result(k)
		if l.ends[k] >= c.last || v.Kind != graph.Rows {
			continue
		}
		v.own = true
		for _, x := range l.wides {
			x.float.own = x.float.own || x.half == v
		}
		if rows := (c.course.most(k-c.first) + v.row() - 1) / v.row(); rows*v.row() < v.positions && l.inTurn(k) {
			v.ring = rows * v.row()
		}
	}
}

// inTurn reports whether the result of action k may be a ring: if the action and
// all that read it can do that, and it is the only rows that these read.
func (l *linker) inTurn(k int) bool {
	if !l.actions[k].rings || l.inputs(k) != 1 {
		return false
	}
	for r := k + 1; r <= l.ends[k]; r++ {
		for _, v := range l.reads(r) {
			if slices.Contains(l.makers[v], k) && (!l.actions[r].rings || l.inputs(r) != 1) {
				return false
			}
		}
	}
	return true
}

// inputs returns how many operands of action k are rows.
func (l *linker) inputs(k int) (n int) {
	for _, v := range l.reads(k) {
		if v != graph.None && l.fn.values[v].Kind == graph.Rows {
			n++
		}
	}
	return n
}
