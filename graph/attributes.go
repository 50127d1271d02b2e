package graph

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// Attributes returns all attributes of n, sorted by key, including those with their default
// value. An absent list is empty. Attributes that are missing in the table are included.
func (n *Node) Attributes() Attrs {
	if !n.Op.Valid() {
		return n.Attrs
	}
	var all Attrs
	for _, s := range n.Op.row().attrs {
		if v := n.attr(s.key); v != nil {
			all = append(all, Attr{s.key, v})
		}
	}
	for _, a := range n.Attrs {
		if !n.Op.has(a.Key) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b Attr) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

// addedLater has, by operation, the attributes that were added after the first version of the device
// contract. Devices of that version refuse a node that has them.
var addedLater = map[Op]string{Dense: "leading", DenseGradInput: "leading", DenseGradWeight: "leading",
	Dropout:     "each",
	SoftmaxXent: "weighted_targets", SoftmaxXentGrad: "weighted_targets"}

// Implied reports whether attribute a of n need not be sent to a device: it has its default value, and
// devices of the first version do not know it.
func (n *Node) Implied(a Attr) bool {
	if !n.Op.Valid() || addedLater[n.Op] != a.Key {
		return false
	}
	for _, s := range n.Op.row().attrs {
		if s.key == a.Key {
			return reflect.DeepEqual(a.Val, s.def)
		}
	}
	return false
}

// Unknown describes the part of n that this release does not know: its operation, or an
// attribute. It returns "" if n is known. In a program of a later release, n may be an
// operation that this release cannot compute.
func (n *Node) Unknown() string {
	if !n.Op.Valid() {
		return "this release does not know the operation"
	}
	for _, a := range n.Attrs {
		if !n.Op.has(a.Key) {
			return fmt.Sprintf("this release does not know the attribute %q", a.Key)
		}
	}
	return ""
}

func (o Op) has(key string) bool {
	return slices.ContainsFunc(o.row().attrs, func(s attrSpec) bool { return s.key == key })
}

// Trim returns a as a node of operation o stores it: sorted and without defaults. Unknown attributes stay;
// Check reports them.
func (o Op) Trim(a Attrs) Attrs {
	a = slices.Clone(a)
	slices.SortStableFunc(a, func(x, y Attr) int { return cmp.Compare(x.Key, y.Key) })
	if r := table[o]; r != nil {
		return a.without(r)
	}
	return a
}
