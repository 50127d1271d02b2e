package graph

import (
	"maps"
	"slices"
)

// A device rounds the values that it stores, but not those that it fuses away (precision
// bf16). It may fold a batch norm into the product before it. It may fuse a value with the
// node that reads it if nothing else reads it. So a recomputed value must be fusible if and
// only if the original was:
//
//	f        norm -> relu6 -> conv, gradients    norm is read once: it is fused
//	kept     norm -> relu6 -> conv               norm is read twice: it would be stored, and rounded
//	            \--> relu6.again -> gradients
//
// Here relu6 is stored instead of norm. In the same way, a value with several readers is stored if
// only one of them would be left in the forward pass or in the backward pass.

// storing lists the operations whose operands every device stores or rounds, so that it does not fuse the
// node before.
var storing = []Op{Conv, ConvTranspose, ConvGradInput, ConvGradWeight, Dense, DenseGradInput, DenseGradWeight,
	MaxPool, AvgPool, GlobalAvgPool, Upsample}

// fusions finds the values of a function that a device may fuse.
type fusions struct {
	f        *Function
	backward []bool
	rounded  func(Type) bool // reports whether values of a type are rounded when they are stored
	users    [][]int
	leaves   map[Value]bool
}

func newFusions(f *Function, backward []bool, rounded func(Type) bool) *fusions {
	u := &fusions{f: f, backward: backward, rounded: rounded, users: f.Users(), leaves: map[Value]bool{}}
	for _, v := range f.results() {
		u.leaves[v] = true
	}
	return u
}

// preserve removes from repeated the values that must not be recomputed, so that fusion does not change.
func (u *fusions) preserve(repeated map[Value]*Node) {
	for before := -1; before != len(repeated); {
		before = len(repeated)
		made := u.neededNodes(repeated)
		for i := range u.f.Nodes {
			for _, v := range u.f.Nodes[i].Out {
				if !u.backward[i] && !u.leaves[v] && u.f.rowBytes(v) > 0 {
					u.preserveValue(v, repeated, made)
				}
			}
		}
	}
}

// preserveValue removes from repeated and needed the values that would change whether v is fused.
func (u *fusions) preserveValue(v Value, repeated map[Value]*Node, needed map[int]bool) {
	var ahead, later, copies []int
	for _, k := range u.users[v] {
		if u.backward[k] {
			later = append(later, k)
			continue
		}
		if ahead = append(ahead, k); needed[k] {
			copies = append(copies, k)
		}
	}
	later = append(later, copies...)
	fused := u.mayFuse(v, u.users[v])
	switch _, isAgain := repeated[v]; {
	case !isAgain && fused && len(copies) > 0:
		delete(repeated, u.f.Nodes[copies[0]].Out[0])
		delete(needed, copies[0])
	case isAgain && !fused && (u.mayFuse(v, ahead) || u.mayFuse(v, later)):
		delete(repeated, v)
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

// neededNodes returns the nodes of repeated that are needed: the backward pass reads their results, or other
// needed nodes do.
func (u *fusions) neededNodes(repeated map[Value]*Node) map[int]bool {
	made := map[int]bool{}
	for i := range slices.Backward(u.f.Nodes) {
		for _, v := range u.f.Nodes[i].Out {
			if repeated[v] != nil && slices.ContainsFunc(u.users[v], func(k int) bool {
				return u.backward[k] ||
					made[k]
			}) {
				made[i] = true
			}
		}
	}
	return made
}

// repeat computes v again, after its operands. It follows the order of the forward pass,
// since a device may fuse the later one of two operands.
func (r *recomputing) repeat(v Value) {
	due := map[Value]*Node{}
	r.collect(v, due)
	for _, v := range slices.Sorted(maps.Keys(due)) {
		n, operands := due[v], []Value(nil)
		for _, o := range n.In {
			operands = append(operands, r.Value(o))
		}
		name := r.Builder.UniqueName(r.From.Values[v].Name + ".again")
		r.To[v] = r.Builder.Node(n.Op, name, n.Attrs, operands...)[0]
	}
}

// collect moves the nodes that v needs, which are to be computed again, from r.again to due.
func (r *recomputing) collect(v Value, due map[Value]*Node) {
	if n := r.repeated[v]; n != nil {
		delete(r.repeated, v)
		due[v] = n
		for _, o := range n.In {
			r.collect(o, due)
		}
	}
}
