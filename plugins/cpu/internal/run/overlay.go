package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// An action that works element by element may overwrite an operand that is no longer read. This halves
// the required cache, and no memory has to be fetched for writing.
//
//	conv  -> x        conv  -> x
//	silu  -> y        silu  -> x, which is y from then on
//	pool  reads y     pool  reads x
//
// All other readers of the operand must have read all its positions: they are in earlier chains.

// overlay finds the results of a group that overwrite an operand.
func (l *chainer) overlay() {
	first := make([]int, len(l.group.actions)) // for each action: the first one with its result in the same slot
	for k := range first {
		first[k] = k
		if m := l.under(k); m >= 0 {
			first[k] = first[m]
			l.rows(k).alias = l.rows(m)
		}
	}
	for _, c := range l.group.chains {
		if c.tiling == nil {
			continue
		}
		for k := c.first; k < c.last; k++ {
			var all []int
			for i := k; i < c.last; i++ {
				if first[i] == k {
					all = append(all, i)
				}
			}
			if len(all) > 1 {
				l.oneRing(c, all)
			}
		}
	}
}

// under returns the action that computes an operand of action k that the result of k may overwrite, or -1
// if the result may overwrite no operand.
func (l *chainer) under(k int) int {
	y := l.rows(k)
	for _, id := range l.reads(k) {
		if id == graph.None || !slices.Contains(l.group.actions[k].Over, l.fn.values[id]) {
			continue
		}
		x, m := l.fn.values[id], l.maker(id, k)
		if m >= 0 && l.ends[m] == k && len(l.makers[id]) == 1 && l.hasOneReader(id, k) && y != nil && y.like(x) &&
			l.rows(m) == x {
			return m
		}
	}
	return -1
}

// rows returns the result of action k that is rows. If zero or several results are rows, it returns nil.
func (l *chainer) rows(k int) (value *Value) {
	for _, id := range l.makes(k) {
		switch v := l.fn.values[id]; {
		case v.Kind != graph.Rows:
		case value != nil:
			return nil
		default:
			value = v
		}
	}
	return value
}

// like reports whether v and x have the same number of elements, the same element size and the same kind of
// memory.
func (v *Value) like(x *Value) bool {
	return v.Kind == graph.Rows && x.Kind == graph.Rows && v.DType == x.DType && v.Count == x.Count &&
		!v.half && !x.half && v.private == x.private && v.state == nil && x.state == nil
}

// hasOneReader reports whether action k is the only reader of a value in its chain.
func (l *chainer) hasOneReader(id graph.Value, k int) bool {
	c := l.group.chains[l.group.chainOf(k)]
	for i := c.first; i < c.last; i++ {
		if i != k && slices.Contains(l.reads(i), id) {
			return false
		}
	}
	return true
}

// oneRing gives rings of the same size to results of a tiling that share memory. A ring must have space for
// the positions that a step computes of the first result, and for those that it still needs of the last.
func (l *chainer) oneRing(c chain, values []int) {
	v, most, inTurn := l.result(values[0]), 0, true
	for _, k := range values {
		inTurn = inTurn && l.inTurn(k)
	}
	for _, step := range c.tiling {
		s := step[values[0]-c.first]
		for _, k := range values[1:] {
			s = s.join(step[k-c.first])
		}
		most = max(most, s.to-s.from)
	}
	ring, row := 0, v.ImageRow()
	if rows := (most + row - 1) / row; inTurn && rows*row < v.Positions {
		ring = rows * row
	}
	for _, k := range values {
		l.result(k).Ring = ring
	}
}
