package collective

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// Op is the operation that combines two nodes. The numbers are part of the protocol and
// never change.
type Op uint8

// The reductions.
const (
	// Sum adds elementwise, in the elements' type: F32 or F64.
	Sum Op = 1
	// MergeMoments merges F64 moments (n, means, squared deviations) of C
	// channels exactly: see Merge.
	MergeMoments Op = 2
)

// Add sets dst to a + b elementwise: one rounded addition each. dst may be a or b.
func Add(dst, a, b tensor.Tensor) {
	if dst.DType == tensor.F64 {
		add(dst.F64(), a.F64(), b.F64())
		return
	}
	add(dst.F32(), a.F32(), b.F32())
}

func add[T float32 | float64](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// Merge sets dst to the moments of the union of a and b, per channel. dst, a and b
// have the layout (n, C means, C sums of squared deviations). The formula holds for
// any counts. If n is 0 on one side, the result is the other side (Chan, Golub,
// LeVeque 1979, eq. 1.5). dst may be a or b.
func Merge(dst, a, b []float64) {
	na, nb := a[0], b[0]
	switch {
	case nb == 0:
		copy(dst, a)
		return
	case na == 0:
		copy(dst, b)
		return
	}
	c := len(dst) / 2
	n := na + nb
	for i := 1; i <= c; i++ {
		d := b[i] - a[i]
		mean := a[i] + float64(d*nb/n)
		dst[c+i] = a[c+i] + b[c+i] + float64(float64(d*d)*na*nb/n)
		dst[i] = mean
	}
	dst[0] = n
}

// combine sets dst to the combination of a and b.
func (o Op) combine(dst, a, b tensor.Tensor) {
	if o == MergeMoments {
		Merge(dst.F64(), a.F64(), b.F64())
		return
	}
	Add(dst, a, b)
}

// Reduce combines the leaves of node n in the order of the canonical tree. leaf(r) returns the value of
// replica r, or the zero Tensor if replica r has no rows. Reduce skips leaves without rows, and nodes
// with no other leaves. It overwrites the first value with the result, and returns it.
func Reduce(o Op, n Node, leaf func(int) tensor.Tensor) tensor.Tensor {
	if n.Leaf() {
		return leaf(n.From)
	}
	l, r := n.Children()
	a, b := Reduce(o, l, leaf), Reduce(o, r, leaf)
	switch {
	case a.IsZero():
		return b
	case b.IsZero():
		return a
	}
	o.combine(a, a, b)
	return a
}

// Partial is the value of one node of the tree. The value is the zero Tensor if no replica of the node
// has rows.
type Partial struct {
	Node  Node
	Value tensor.Tensor
}

// Combine completes a tree over the given number of leaves. The nodes of the partial values, in any
// order, together cover every leaf once. Combine returns the zero Tensor if no replica has rows. It may
// overwrite the partial values.
func Combine(o Op, leaves int, partials []Partial) (tensor.Tensor, error) {
	root, err := combineTo(o, []Node{Root(leaves)}, partials)
	if err != nil {
		return tensor.Tensor{}, err
	}
	return root[0].Value, nil
}

// combineTo combines partial values into the values of the given nodes. The partial values together cover
// the leaves of each node once. They may be overwritten.
func combineTo(o Op, nodes []Node, partials []Partial) ([]Partial, error) {
	at := make(map[Node]tensor.Tensor, len(partials))
	for _, p := range partials {
		if _, twice := at[p.Node]; twice {
			return nil, fmt.Errorf("collective: two parts for node %v", p.Node)
		}
		at[p.Node] = p.Value
	}
	used := 0
	var out []Partial
	for _, n := range nodes {
		v, err := complete(o, n, at, &used)
		if err != nil {
			return nil, err
		}
		out = append(out, Partial{n, v})
	}
	if used != len(partials) {
		return nil, fmt.Errorf("collective: %d of %d parts are in none of %v", len(partials)-used, len(partials),
			nodes)
	}
	return out, nil
}

func complete(o Op, n Node, values map[Node]tensor.Tensor, used *int) (tensor.Tensor, error) {
	if v, ok := values[n]; ok {
		*used++
		return v, nil
	}
	if n.Leaf() {
		return tensor.Tensor{}, fmt.Errorf("collective: no part covers replica %d", n.From)
	}
	l, r := n.Children()
	a, err := complete(o, l, values, used)
	if err != nil {
		return a, err
	}
	b, err := complete(o, r, values, used)
	switch {
	case err != nil || a.IsZero():
		return b, err
	case b.IsZero():
		return a, nil
	case a.DType != b.DType || len(a.Bytes) != len(b.Bytes):
		return a, fmt.Errorf("collective: parts %v and %v do not combine", a, b)
	}
	o.combine(a, a, b)
	return a, nil
}
