package graph

import (
	"cmp"
	"slices"
)

// Attributes returns all attributes of n, those included that have their
// default value, sorted by key. An absent list is an empty one.
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

// Trim returns a in the order and without the defaults that a node of
// operation o has them. Unknown attributes stay, for Check to find.
func (o Op) Trim(a Attrs) Attrs {
	a = slices.Clone(a)
	slices.SortStableFunc(a, func(x, y Attr) int { return cmp.Compare(x.Key, y.Key) })
	if r := table[o]; r != nil {
		return a.without(r)
	}
	return a
}
