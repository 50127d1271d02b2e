package onnx

import (
	"math"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		"Sinh":  {attributes: accept(1, ""), make: oneResult(sinhCosh), batch: batchaxis.Same},
		"Cosh":  {attributes: accept(1, ""), make: oneResult(sinhCosh), batch: batchaxis.Same},
		"Asinh": {attributes: accept(1, ""), make: oneResult(asinh), batch: batchaxis.Same},
		"Acosh": {attributes: accept(1, ""), make: oneResult(acosh), batch: batchaxis.Same},
		"Atanh": {attributes: accept(1, ""), make: oneResult(atanh), batch: batchaxis.Same},
	})
}

// Hyperbolic functions are computed from exponentials and logarithms. Near 0, where these cancel, their
// series are used.

const seriesBelow = 0.25 // absolute value; below it the first omitted term is less than 1e-8 of the sum

// addOddSeries computes the series x*(k[0] + k[1]*x^2 + k[2]*x^4 ...).
func addOddSeries(c *call, x graph.Value, k ...float64) graph.Value {
	z := c.node(graph.Mul, ".square", []graph.Value{x, x})
	last := len(k) - 1
	sum := c.node(graph.Affine, ".term", []graph.Value{z}, "by", shortest(k[last]), "add", shortest(k[last-1]))
	for i := last - 2; i >= 0; i-- {
		sum = c.node(graph.Mul, ".term", []graph.Value{sum, z})
		sum = c.node(graph.Affine, ".term", []graph.Value{sum}, "add", shortest(k[i]))
	}
	return c.node(graph.Mul, ".series", []graph.Value{sum, x})
}

// chooseBySize returns near if size is small and far otherwise, with the sign of x.
func chooseBySize(c *call, suffix string, x, size, near, far graph.Value) graph.Value {
	negative := c.compare(".negative", "less", x, c.number("zero", 0))
	other := c.node(graph.Affine, ".other", []graph.Value{far}, "by", -1.0)
	far = c.node(graph.Where, ".far", []graph.Value{negative, other, far})
	small := c.compare(".small", "less", size, c.number("small", seriesBelow))
	return c.node(graph.Where, suffix, []graph.Value{small, near, far})
}

// sinhCosh computes (e^x -+ e^-x) / 2. It uses the square root of e^|x|, because e^|x| may overflow
// although half of it does not.
func sinhCosh(c *call) graph.Value {
	x, size := c.Dynamic(0), makeAbsolute(c, ".size")
	half := c.node(graph.Affine, ".half", []graph.Value{size}, "by", 0.5)
	root := c.node(graph.Exp, ".root", []graph.Value{half})
	rootHalf := c.node(graph.Affine, ".root_half", []graph.Value{root}, "by", 0.5)
	up := c.node(graph.Mul, ".up", []graph.Value{root, rootHalf})
	down := c.node(graph.Div, ".down", []graph.Value{c.node(graph.Div, ".down_half",
		[]graph.Value{c.number("half", 0.5), root}), root})
	if c.Proto.OpType == "Cosh" {
		return c.node(graph.Add, "", []graph.Value{up, down})
	}
	far := c.node(graph.Sub, ".difference", []graph.Value{up, down})
	return chooseBySize(c, "", x, size, addOddSeries(c, x, 1, 1.0/6, 1.0/120, 1.0/5040), far)
}

func asinh(c *call) graph.Value { return makeAsinh(c, "", c.Dynamic(0)) }

// makeAsinh computes log(|x| + sqrt(x^2 + 1)) with the sign of x. If x is so large that its square
// would overflow, it computes log(2|x|).
func makeAsinh(c *call, suffix string, x graph.Value) graph.Value {
	const large = 1e4
	negated := c.node(graph.Affine, ".negated", []graph.Value{x}, "by", -1.0)
	size := c.node(graph.Max, ".size", []graph.Value{x, negated})
	square := c.node(graph.Mul, ".squared", []graph.Value{x, x})
	above := c.node(graph.Affine, ".above", []graph.Value{square}, "add", 1.0)
	root := c.node(graph.Sqrt, ".root", []graph.Value{above})
	sum := c.node(graph.Add, ".sum", []graph.Value{size, root})
	isLarge := c.compare(".is_large", "greater", size, c.number("large", large))
	within := c.node(graph.Where, ".within", []graph.Value{isLarge, size, sum})
	log := c.node(graph.Log, ".log", []graph.Value{within})
	more := c.node(graph.Affine, ".twice", []graph.Value{log}, "add", shortest(math.Ln2))
	far := c.node(graph.Where, ".logs", []graph.Value{isLarge, more, log})
	near := addOddSeries(c, x, 1, -1.0/6, 3.0/40, -15.0/336, 105.0/3456, -945.0/42240)
	return chooseBySize(c, suffix, x, size, near, far)
}

// acosh computes the asinh of sqrt(x^2 - 1).
func acosh(c *call) graph.Value {
	root := func(suffix string, add float64) graph.Value {
		v := c.node(graph.Affine, suffix, []graph.Value{c.Dynamic(0)}, "add", add)
		return c.node(graph.Sqrt, suffix+"_root", []graph.Value{v})
	}
	return makeAsinh(c, "", c.node(graph.Mul, ".leg", []graph.Value{root(".less", -1), root(".more", 1)}))
}

// atanh is log((1 + x) / (1 - x)) / 2.
func atanh(c *call) graph.Value {
	x := c.Dynamic(0)
	more := c.node(graph.Affine, ".more", []graph.Value{x}, "add", 1.0)
	less := c.node(graph.Affine, ".less", []graph.Value{x}, "by", -1.0, "add", 1.0)
	log := c.node(graph.Log, ".log", []graph.Value{c.node(graph.Div, ".ratio", []graph.Value{more, less})})
	far := c.node(graph.Affine, ".far", []graph.Value{log}, "by", 0.5)
	small := c.compare(".small", "less", makeAbsolute(c, ".size"), c.number("small", seriesBelow))
	near := addOddSeries(c, x, 1, 1.0/3, 1.0/5, 1.0/7, 1.0/9, 1.0/11)
	return c.node(graph.Where, "", []graph.Value{small, near, far})
}
