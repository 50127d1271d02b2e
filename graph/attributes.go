package graph

import (
	"cmp"
	"slices"
)

// Attributes returns all attributes of n, sorted by key, including those with
// their default value. An absent list is empty.
func (n *Node) Attributes() Attrs {
	var all Attrs
	for _, s := range n.Op.row().attrs {
		if v := n.attr(s.key); v != nil {
			all = append(all, Attr{s.key, v})
		}
	}
	slices.SortFunc(all, func(a, b Attr) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

// Trim returns a as a node of operation o has it: sorted and without defaults.
// Unknown attributes stay; Check reports them.
func (o Op) Trim(a Attrs) Attrs {
	a = slices.Clone(a)
	slices.SortStableFunc(a, func(x, y Attr) int { return cmp.Compare(x.Key, y.Key) })
	if r := table[o]; r != nil {
		return a.without(r)
	}
	return a
}
