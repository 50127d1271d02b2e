package onnx

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Mod": {attributes: accept(2, "fmod"),
			refused: "values, other than constants, and but places by one positive constant", make: remainder,
			fold: fold.Mod, batch: batchaxis.Aligned, integers: computeWhole},
	})
}

// Integers may be computed from indices with known bounds. Below 2^24 they are exact in f32. So is the
// floor of a quotient, because a quotient that is not an integer differs from the next integer by more
// than the rounding of f32. Detectors compute rows and columns in this way from the indices that a TopK
// picks in a flattened picture.

// findFloatBounds returns the bounds of the result of a node that moves or rounds numbers with bounds.
func findFloatBounds(c *call, op string) *node.Extent {
	of := c.In[0].Within
	switch {
	case of == nil:
	case op == "Round" || op == "Floor" || op == "Ceil":
		return &node.Extent{Least: math.Floor(of.Least), Most: math.Ceil(of.Most)}
	case table[op].integers.has(keepBounds) && op != "Concat":
		return of
	}
	return nil
}

// findMovedBounds returns the bounds of the result of a node that only copies elements of its operands.
func findMovedBounds(c *call, op string) *node.Extent {
	if !table[op].integers.has(keepBounds) {
		return nil
	}
	from := c.In[:1]
	if op == "Concat" {
		from = c.In
	}
	all := &node.Extent{Least: math.Inf(1), Most: math.Inf(-1)}
	for _, x := range from {
		e := x.Extent()
		if e == nil {
			return nil
		}
		all.Least, all.Most = min(all.Least, e.Least), max(all.Most, e.Most)
	}
	return all
}

// computeWholes computes integers. It returns nil if their bounds are unknown, or if f32 could not
// represent all of them.
func computeWholes(c *call, op string) []node.Value {
	if !table[op].integers.has(computeWhole) || len(c.In) != 2 {
		return nil
	}
	if op == "CumSum" {
		return cumSumWhole(c)
	}
	a, b := c.In[0].Extent(), c.In[1].Extent()
	if !a.IsExact() || !b.IsExact() {
		return nil
	}
	within := findBounds(c, op, a, b)
	kind := cmp.Or(c.In[0].Kind, c.In[1].Kind, tensor.I64)
	if !within.IsExact() || !within.Fits(kind) { // integers out of the range of the type would wrap around
		return nil
	}
	var v graph.Value
	switch op {
	case "Div":
		v = addWholeQuotient(c, "", b.Least)
	case "Mod":
		q := addWholeQuotient(c, ".quotient", b.Least)
		whole := c.node(graph.Affine, ".whole", []graph.Value{q}, "by", b.Least)
		v = c.node(graph.Sub, "", []graph.Value{c.Dynamic(0), whole})
	default:
		v = binary(c)
	}
	out := c.integerRows(v)
	out[0].Within = within
	return out
}

// findBounds returns the bounds of a op b. It returns nil for a quotient unless b is one positive
// number, and for quotients that f32 may not round down.
func findBounds(c *call, op string, a, b *node.Extent) *node.Extent {
	switch op {
	case "Add":
		return &node.Extent{Least: a.Least + b.Least, Most: a.Most + b.Most}
	case "Sub":
		return &node.Extent{Least: a.Least - b.Most, Most: a.Most - b.Least}
	case "Mul":
		products := []float64{a.Least * b.Least, a.Least * b.Most, a.Most * b.Least, a.Most * b.Most}
		return &node.Extent{Least: slices.Min(products), Most: slices.Max(products)}
	}
	by := c.In[1]
	if !by.IsConstant() || by.Tensor.Count() != 1 || len(by.Tensor.Shape) > 1 || b.Least < 1 || a.Least < 0 ||
		a.Most+b.Most >= node.MaxPlaces {
		return nil
	}
	if op == "Mod" {
		return &node.Extent{Least: 0, Most: min(a.Most, b.Most-1)}
	}
	return &node.Extent{Least: math.Floor(a.Least / b.Most), Most: math.Floor(a.Most / b.Least)}
}

// addWholeQuotient divides operand 0 by a number and rounds down.
func addWholeQuotient(c *call, suffix string, divisor float64) graph.Value {
	q := c.node(graph.Div, suffix+".ratio", []graph.Value{c.Dynamic(0), c.number("divisor", divisor)})
	return c.node(graph.Round, suffix, []graph.Value{q}, "mode", "floor")
}

// remainder refuses Mod, except that computeWholes has already read Mod of integers with
// bounds.
func remainder(c *call) []node.Value {
	c.Fail("of values that come from the input is not supported, only of places that ArgMax, ArgMin or TopK " +
		"make, by one positive constant")
	return nil
}
