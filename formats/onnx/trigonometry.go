package onnx

import (
	"math"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		"Sin":  {attributes: accept(1, ""), make: oneResult(sineCosine), fold: fold.Sin, batch: batchaxis.Same},
		"Cos":  {attributes: accept(1, ""), make: oneResult(sineCosine), fold: fold.Cos, batch: batchaxis.Same},
		"Tan":  {attributes: accept(1, ""), make: oneResult(tangent), batch: batchaxis.Same},
		"Asin": {attributes: accept(1, ""), make: oneResult(arc), batch: batchaxis.Same},
		"Acos": {attributes: accept(1, ""), make: oneResult(arc), batch: batchaxis.Same},
		"Atan": {attributes: accept(1, ""), make: oneResult(arc), batch: batchaxis.Same},
	})
}

// The argument of a sine is reduced by whole quarters of the circle to at most an eighth of the circle.
// The sine of the rest is a series. A quarter is subtracted in three parts. The first part is so short
// that its products are exact, so that the rounding of the argument is the only error up to farAngle.
// Beyond farAngle the result is NaN.

const (
	quarterHigh = 201.0 / 128 // the first 8 bits of pi/2, then the next 24 bits, then the rest
	quarterMid  = 4.837512969970703e-4
	quarterLow  = 7.549789954891882e-8
	farAngle    = 1e5
)

// addAngle divides x into quarter turns. It returns the rest, from -pi/4 to pi/4, and the number of the
// quarter, 0 to 3.
func addAngle(c *call, x graph.Value) (remainder, quarter graph.Value) {
	turns := c.node(graph.Round, ".turns", []graph.Value{c.node(graph.Affine, ".in_quarters", []graph.Value{x},
		"by", shortest(2/math.Pi))})
	remainder = x
	for _, chunk := range []float64{quarterHigh, quarterMid, quarterLow} {
		whole := c.node(graph.Affine, ".quarters", []graph.Value{turns}, "by", shortest(-chunk))
		remainder = c.node(graph.Add, ".left", []graph.Value{remainder, whole})
	}
	inRounds := c.node(graph.Affine, ".in_rounds", []graph.Value{turns}, "by", 0.25)
	rounds := c.node(graph.Round, ".rounds", []graph.Value{inRounds}, "mode", "floor")
	full := c.node(graph.Affine, ".full", []graph.Value{rounds}, "by", -4.0)
	return remainder, c.node(graph.Add, ".quarter", []graph.Value{turns, full})
}

// addEvenSeries computes the series 1 + k[0]*x^2 + k[1]*x^4 ...
func addEvenSeries(c *call, x graph.Value, k ...float64) graph.Value {
	z := c.node(graph.Mul, ".square", []graph.Value{x, x})
	last := len(k) - 1
	sum := c.node(graph.Affine, ".term", []graph.Value{z}, "by", shortest(k[last]), "add", shortest(k[last-1]))
	for i := last - 2; i >= -1; i-- {
		add := 1.0
		if i >= 0 {
			add = k[i]
		}
		sum = c.node(graph.Mul, ".term", []graph.Value{sum, z})
		sum = c.node(graph.Affine, ".term", []graph.Value{sum}, "add", shortest(add))
	}
	return sum
}

// makeSine computes the sine of x plus a number of quarter turns. One quarter gives the cosine.
func makeSine(c *call, suffix string, x graph.Value, quarters float64) graph.Value {
	left, quarter := addAngle(c, x)
	sine := addOddSeries(c, left, 1, -1.0/6, 1.0/120, -1.0/5040, 1.0/362880)
	cosine := addEvenSeries(c, left, -1.0/2, 1.0/24, -1.0/720, 1.0/40320, -1.0/3628800)
	is := func(name string, n float64) graph.Value {
		return c.compare("."+name, "equal", quarter, c.number(name, math.Mod(n-quarters+4, 4)))
	}
	turned := func(v graph.Value) graph.Value {
		return c.node(graph.Affine, ".turned", []graph.Value{v}, "by", -1.0)
	}
	v := c.node(graph.Where, ".third", []graph.Value{is("three", 3), turned(cosine), sine})
	v = c.node(graph.Where, ".second", []graph.Value{is("two", 2), turned(sine), v})
	v = c.node(graph.Where, ".first", []graph.Value{is("one", 1), cosine, v})
	negated := c.node(graph.Affine, ".negated", []graph.Value{x}, "by", -1.0)
	size := c.node(graph.Max, ".size", []graph.Value{x, negated})
	near := c.compare(".near", "less_equal", size, c.number("far", farAngle))
	return c.node(graph.Where, suffix, []graph.Value{near, v, c.number("nan", math.NaN())})
}

func sineCosine(c *call) graph.Value {
	ahead := 0.0
	if c.Proto.OpType == "Cos" {
		ahead = 1
	}
	return makeSine(c, "", c.Dynamic(0), ahead)
}

func tangent(c *call) graph.Value {
	x := c.Dynamic(0)
	return c.node(graph.Div, "", []graph.Value{makeSine(c, ".sine", x, 0), makeSine(c, ".cosine", x, 1)})
}

// makeArcTangent uses the polynomial of Cephes (S. Moshier, atanf) near 0. Larger arguments are moved
// towards 0 by an eighth or a quarter of the circle.
func makeArcTangent(c *call, suffix string, x graph.Value) graph.Value {
	one := c.number("one", 1)
	negated := c.node(graph.Affine, ".negated", []graph.Value{x}, "by", -1.0)
	size := c.node(graph.Max, ".size", []graph.Value{x, negated})
	beyond := c.compare(".beyond", "greater", size, c.number("eighths", math.Sqrt2+1))
	inside := c.compare(".inside", "less", size, c.number("sixteenths", math.Sqrt2-1))
	back := c.node(graph.Affine, ".back", []graph.Value{c.node(graph.Div, ".inverse", []graph.Value{one, size})},
		"by", -1.0)
	turned := c.node(graph.Div, ".turned", []graph.Value{
		c.node(graph.Affine, ".less", []graph.Value{size}, "add", -1.0),
		c.node(graph.Affine, ".more", []graph.Value{size}, "add", 1.0)})
	near := c.node(graph.Where, ".outside", []graph.Value{beyond, back, turned})
	near = c.node(graph.Where, ".near", []graph.Value{inside, size, near})
	start := c.node(graph.Where, ".start", []graph.Value{beyond, c.number("quarter", math.Pi/2),
		c.number("eighth", math.Pi/4)})
	start = c.node(graph.Where, ".from", []graph.Value{inside, c.number("zero", 0), start})
	series := addOddSeries(c, near, 1, -3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2)
	far := c.node(graph.Add, ".angle", []graph.Value{start, series})
	other := c.node(graph.Affine, ".other", []graph.Value{far}, "by", -1.0)
	negative := c.compare(".below", "less", x, c.number("zero", 0))
	return c.node(graph.Where, suffix, []graph.Value{negative, other, far})
}

// arc computes Atan, Asin and Acos by the arc tangent of the ratio between the legs of
// a right triangle.
func arc(c *call) graph.Value {
	x := c.Dynamic(0)
	more := c.node(graph.Affine, ".up", []graph.Value{x}, "add", 1.0)
	less := c.node(graph.Affine, ".down", []graph.Value{x}, "by", -1.0, "add", 1.0)
	switch c.Proto.OpType {
	case "Asin":
		leg := c.node(graph.Sqrt, ".leg", []graph.Value{c.node(graph.Mul, ".legs", []graph.Value{more, less})})
		return makeArcTangent(c, "", c.node(graph.Div, ".ratio", []graph.Value{x, leg}))
	case "Acos":
		half := c.node(graph.Sqrt, ".tangent", []graph.Value{c.node(graph.Div, ".legs", []graph.Value{less, more})})
		return c.node(graph.Affine, "", []graph.Value{makeArcTangent(c, ".half", half)}, "by", 2.0)
	}
	return makeArcTangent(c, "", x)
}
