package graph

import (
	"maps"
	"slices"
)

// A device rounds what it stores, and not what it fuses away (precision bf16), and it may fold a batch norm
// into the product before it. It may fuse a value with the node that reads it if nothing else does. So where
// values are computed again, each of the two must be fusible if and only if the one was:
//
//	f        norm -> relu6 -> conv, gradients    norm is read once: it is fused
//	kept     norm -> relu6 -> conv               norm is read twice: it would be stored, and rounded
//	            \--> relu6.again -> gradients
//
// There relu6 is kept in place of norm. The other way round, a value with several readers of which only one
// would be left in the forward pass or in the backward pass is kept.

// storing are the operations before which every device stores a value, or rounds it as an operand.
var storing = []Op{Conv, ConvTranspose, ConvGradInput, ConvGradWeight, Dense, DenseGradInput, DenseGradWeight,
	MaxPool, AvgPool, GlobalAvgPool, Upsample}

// fusions knows what a device may fuse in a function.
type fusions struct {
	f       *Function
	back    []bool
	rounded func(Type) bool // of values: whether they are rounded where they are stored
	users   [][]int
	leaves  map[Value]bool
}

func newFusions(f *Function, back []bool, rounded func(Type) bool) *fusions {
	u := &fusions{f: f, back: back, rounded: rounded, users: f.Users(), leaves: map[Value]bool{}}
	for _, v := range f.results() {
		u.leaves[v] = true
	}
	return u
}

// preserve takes out of again what must not be computed again, so that what is fused stays as it is.
func (u *fusions) preserve(again map[Value]*Node) {
	for before := -1; before != len(again); {
		before = len(again)
		made := u.made(again)
		for i := range u.f.Nodes {
			for _, v := range u.f.Nodes[i].Out {
				if !u.back[i] && !u.leaves[v] && u.f.rowBytes(v) > 0 {
					u.preserveValue(v, again, made)
				}
			}
		}
	}
}

// preserveValue takes out of again and made what changes whether v is fused.
func (u *fusions) preserveValue(v Value, again map[Value]*Node, made map[int]bool) {
	var ahead, later, copies []int
	for _, k := range u.users[v] {
		if u.back[k] {
			later = append(later, k)
			continue
		}
		if ahead = append(ahead, k); made[k] {
			copies = append(copies, k)
		}
	}
	later = append(later, copies...)
	fused := u.mayFuse(v, u.users[v])
	switch _, isAgain := again[v]; {
	case !isAgain && fused && len(copies) > 0:
		delete(again, u.f.Nodes[copies[0]].Out[0])
		delete(made, copies[0])
	case isAgain && !fused && (u.mayFuse(v, ahead) || u.mayFuse(v, later)):
		delete(again, v)
	}
}

// mayFuse reports whether v, with these readers, may be fused so that bits depend on it.
func (u *fusions) mayFuse(v Value, readers []int) bool {
	if len(readers) != 1 {
		return false
	}
	op := u.f.Nodes[readers[0]].Op
	return op == BatchNorm || u.rounded != nil && u.rounded(u.f.Values[v].Type) && !slices.Contains(storing, op)
}

// made returns the nodes that are computed again, of those that may be: the backward pass reads their
// results, or others of them do.
func (u *fusions) made(again map[Value]*Node) map[int]bool {
	made := map[int]bool{}
	for i := range slices.Backward(u.f.Nodes) {
		for _, v := range u.f.Nodes[i].Out {
			if again[v] != nil && slices.ContainsFunc(u.users[v], func(k int) bool { return u.back[k] || made[k] }) {
				made[i] = true
			}
		}
	}
	return made
}

// repeat computes v again, and before it what it is made of: in the order of the forward pass, because of
// two operands a device may fuse the one that is made later.
func (r *recomputing) repeat(v Value) {
	due := map[Value]*Node{}
	r.collect(v, due)
	for _, v := range slices.Sorted(maps.Keys(due)) {
		n, in := due[v], []Value(nil)
		for _, o := range n.In {
			in = append(in, r.Value(o))
		}
		name := r.Builder.UniqueName(r.From.Values[v].Name + ".again")
		r.To[v] = r.Builder.Node(n.Op, name, n.Attrs, in...)[0]
	}
}

// collect moves to due what is to be computed again for v.
func (r *recomputing) collect(v Value, due map[Value]*Node) {
	if n := r.again[v]; n != nil {
		delete(r.again, v)
		due[v] = n
		for _, o := range n.In {
			r.collect(o, due)
		}
	}
}
