package collective

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Growing sums the canonical tree while leaves arrive one after the other, in any order.
// The number of leaves of the tree need not be known yet. The two halves of a node are added
// as soon as both are present, so that only about log2(n) values are kept if n leaves arrive
// in order:
//
//	leaf arrives   0        1        2           3
//	values kept   [0,1)    [0,2)    [0,2) [2,3)  [0,4)
//
// This works because a block of 2^k leaves that begins at a multiple of 2^k is a node of
// every tree that has these leaves.
type Growing struct {
	op     Op
	values map[Node]tensor.Tensor
}

// NewGrowing returns a tree without leaves.
func NewGrowing(op Op) *Growing { return &Growing{op, map[Node]tensor.Tensor{}} }

// Has reports whether a leaf has been added.
func (g *Growing) Has(leaf int) bool {
	for n := range g.values {
		if n.From <= leaf && leaf < n.To {
			return true
		}
	}
	return false
}

// Leaves returns the leaves that have been added.
func (g *Growing) Leaves() []int {
	var all []int
	for n := range g.values {
		for leaf := n.From; leaf < n.To; leaf++ {
			all = append(all, leaf)
		}
	}
	slices.Sort(all)
	return all
}

// Add adds a new leaf, and returns the values that are no longer needed. v may be
// overwritten.
func (g *Growing) Add(leaf int, v tensor.Tensor) (spent []tensor.Tensor) {
	n := Node{leaf, leaf + 1}
	for {
		size := n.To - n.From
		left := n.From/size%2 == 0
		next := Node{n.From - size, n.From}
		if left {
			next = Node{n.To, n.To + size}
		}
		other, ok := g.values[next]
		if !ok {
			g.values[n] = v
			return spent
		}
		delete(g.values, next)
		if left {
			g.op.combine(v, v, other)
			spent, n = append(spent, other), Node{n.From, next.To}
		} else {
			g.op.combine(other, other, v)
			spent, v, n = append(spent, v), other, Node{next.From, n.To}
		}
	}
}

// Onto returns the values that would be combined with a leaf if the leaf arrived now, the nearest first.
// It returns nil if one of these values is on the right of the leaf in the tree. The caller may add the
// leaf to the values itself, and then call Added.
func (g *Growing) Onto(leaf int) (values []tensor.Tensor) {
	for n := (Node{leaf, leaf + 1}); ; {
		size := n.To - n.From
		if n.From/size%2 == 0 {
			if _, ok := g.values[Node{n.To, n.To + size}]; ok {
				return nil
			}
			return values
		}
		before, ok := g.values[Node{n.From - size, n.From}]
		if !ok {
			return values
		}
		values, n = append(values, before), Node{n.From - size, n.To}
	}
}

// Added records that the caller has added a leaf to the values of Onto: the leaf to the first
// value, the result to the second, and so on, so that the last value now holds the sum of all.
// Added returns the other values, which are no longer needed.
func (g *Growing) Added(leaf int) (spent []tensor.Tensor) {
	for n, last := (Node{leaf, leaf + 1}), (tensor.Tensor{}); ; {
		size := n.To - n.From
		before := Node{n.From - size, n.From}
		v, ok := g.values[before]
		if n.From/size%2 == 0 || !ok {
			g.values[n] = last
			return spent
		}
		delete(g.values, before)
		if !last.IsZero() {
			spent = append(spent, last)
		}
		n, last = Node{before.From, n.To}, v
	}
}

// Drop removes all leaves, and returns the values that are no longer needed.
func (g *Growing) Drop() (spent []tensor.Tensor) {
	spent = slices.Collect(maps.Values(g.values))
	clear(g.values)
	return spent
}

// Take returns the values of the nodes of Cover(leaves, replicas) and removes them. Leaves
// that have not arrived count as leaves without rows. Take returns an error if the tree has a
// leaf outside of the cover.
func (g *Growing) Take(leaves int, replicas []int) ([]Partial, error) {
	var out []Partial
	for _, n := range Cover(leaves, replicas) {
		out = append(out, Partial{n, g.take(n)})
	}
	if len(g.values) > 0 {
		return nil, fmt.Errorf("collective: leaves %v came, which are none of %v", g.Leaves(), replicas)
	}
	return out, nil
}

// take returns the value of a node, or the zero Tensor if none of its leaves has arrived.
func (g *Growing) take(n Node) tensor.Tensor {
	if v, ok := g.values[n]; ok || n.Leaf() {
		delete(g.values, n)
		return v
	}
	l, r := n.Children()
	a, b := g.take(l), g.take(r)
	switch {
	case a.IsZero():
		return b
	case b.IsZero():
		return a
	}
	g.op.combine(a, a, b)
	return a
}
