package onnx

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Of places, whose bounds are known, integers may be computed too: what stays below 2^24 is exact in
// f32, and so is the floor of a quotient, since a quotient that is no whole number is further from the
// next one than f32 rounds. So heads make rows and columns of what a TopK picks of a picture that is
// one axis.

// wholeOps are the operators of integers of known bounds.
var wholeOps = []string{"Add", "Sub", "Mul", "Div", "Mod"}

// keepExtents are the operators that move integers, and add none.
var keepExtents = []string{"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice",
	"Split", "Compress", "ReduceMax", "ReduceMin",
	"Gather", "GatherElements", "GatherND", "Concat", "Tile", "Expand"}

// extentOfFloats returns the bounds of what moves or rounds numbers within bounds.
func (c *call) extentOfFloats(op string) *extent {
	of := c.in[0].within
	switch {
	case of == nil:
	case op == "Round" || op == "Floor" || op == "Ceil":
		return &extent{math.Floor(of.least), math.Ceil(of.most)}
	case slices.Contains(keepExtents, op) && op != "Concat":
		return of
	}
	return nil
}

// movedExtent returns the bounds of what a node takes out of its operands, without adding any.
func (c *call) movedExtent(op string) *extent {
	if !slices.Contains(keepExtents, op) {
		return nil
	}
	from := c.in[:1]
	if op == "Concat" {
		from = c.in
	}
	all := &extent{math.Inf(1), math.Inf(-1)}
	for _, x := range from {
		e := x.extent()
		if e == nil {
			return nil
		}
		all.least, all.most = min(all.least, e.least), max(all.most, e.most)
	}
	return all
}

// wholes computes integers; nil where their bounds are not known, or f32 would not have all of them.
func (c *call) wholes(op string) []value {
	if !slices.Contains(wholeOps, op) || len(c.in) != 2 {
		return nil
	}
	a, b := c.in[0].extent(), c.in[1].extent()
	if !a.isExact() || !b.isExact() {
		return nil
	}
	within := c.extentOf(op, a, b)
	kind := cmp.Or(c.in[0].kind, c.in[1].kind, tensor.I64)
	if !within.isExact() || !within.fits(kind) { // what leaves the type wraps around
		return nil
	}
	var v graph.Value
	switch op {
	case "Div":
		v = c.wholeQuotient("", b.least)
	case "Mod":
		q := c.wholeQuotient(".quotient", b.least)
		whole := c.node(graph.Affine, ".whole", []graph.Value{q}, "by", b.least)
		v = c.node(graph.Sub, "", []graph.Value{c.dynamic(0), whole})
	default:
		v = binary(c)
	}
	out := c.integerRows(v)
	out[0].within = within
	return out
}

// extentOf returns the bounds of a op b; nil of quotients by what is not one positive number, and of
// those that f32 may not round down.
func (c *call) extentOf(op string, a, b *extent) *extent {
	switch op {
	case "Add":
		return &extent{a.least + b.least, a.most + b.most}
	case "Sub":
		return &extent{a.least - b.most, a.most - b.least}
	case "Mul":
		products := []float64{a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most}
		return &extent{slices.Min(products), slices.Max(products)}
	}
	by := c.in[1]
	if !by.isConstant() || by.c.Count() != 1 || len(by.c.Shape) > 1 || b.least < 1 || a.least < 0 ||
		a.most+b.most >= maxPlaces {
		return nil
	}
	if op == "Mod" {
		return &extent{0, min(a.most, b.most-1)}
	}
	return &extent{math.Floor(a.least / b.most), math.Floor(a.most / b.least)}
}

// wholeQuotient is operand 0 by a number, rounded down.
func (c *call) wholeQuotient(suffix string, by float64) graph.Value {
	q := c.node(graph.Div, suffix+".ratio", []graph.Value{c.dynamic(0), c.number("divisor", by)})
	return c.node(graph.Round, suffix, []graph.Value{q}, "mode", "floor")
}

// remainder is Mod of what are no such integers.
func remainder(c *call) []value {
	c.fail("of values that come from the input is not supported, only of places that ArgMax, ArgMin or TopK " +
		"make, by one positive constant")
	return nil
}
