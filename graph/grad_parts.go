package graph

import "slices"

// term is a contribution to the gradient of a value: the value itself, or for the gradient
// of a slice, its SliceGrad. The SliceGrad is added late, since slices often divide their
// operand:
//
//	x ─┬ slice  a ─        dx = concat(da, db)    instead of    slice_grad(da) + slice_grad(db)
//	   └ slice  b ─
type term struct {
	value Value
	name  string // name of the slice
	slice *Node  // nil: value is the whole contribution
}

// contributions returns all contributions to the gradient of v, which has that name. Gradients of slices that
// follow one another and have every element of v once are put together.
func (g *gradient) contributions(v Value, name string) (values []Value) {
	terms := g.terms[v]
	for i := 0; i < len(terms); {
		n := 0
		for i+n < len(terms) && terms[i+n].slice != nil {
			n++
		}
		if pieces, axis := g.divided(v, terms[i:i+n]); axis >= 0 {
			values = append(values, g.b.Op(Concat, g.b.UniqueName(name+".dy"), pieces, "axis", axis))
			i += n
			continue
		}
		for _, t := range terms[i : i+max(n, 1)] {
			values = append(values, g.scattered(v, t))
		}
		i += max(n, 1)
	}
	return values
}

// scattered returns the contribution t to the gradient of v as a value of its shape.
func (g *gradient) scattered(v Value, t term) Value {
	if t.slice == nil {
		return t.value
	}
	out := g.b.Node(SliceGrad, g.b.UniqueName(t.name+".dx"), t.slice.Attrs.With("size", g.shape(v)), t.value)
	if len(out) == 0 {
		return None
	}
	return out[0]
}

// divided returns the gradients of slices of v in order along the axis that the slices
// divide, or -1 if they do not divide v.
func (g *gradient) divided(v Value, terms []term) (pieces []Value, axis int) {
	if axis = -1; len(terms) < 2 || g.b.Type(v).Kind != Rows {
		return nil, axis
	}
	terms = slices.Clone(terms)
	slices.SortFunc(terms, func(a, b term) int {
		return slices.Compare(a.slice.Ints("begin"), b.slice.Ints("begin"))
	})
	for i, n := range g.shape(v) {
		at, whole, follow := 0, true, true
		for _, t := range terms {
			begin, end := t.slice.Ints("begin")[i], t.slice.Ints("end")[i]
			one := t.slice.SliceStep()[i] == 1
			whole, follow, at = whole && one && begin == 0 && end == n, follow && one && begin == at, end
		}
		switch {
		case whole:
		case axis < 0 && follow && at == n:
			axis = i
		default:
			return nil, -1
		}
	}
	for _, t := range terms {
		pieces = append(pieces, t.value)
	}
	return pieces, axis
}
