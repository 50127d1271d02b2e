package ref

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// binary computes an operation with two operands. Their shapes are broadcast as in NumPy. Whole operands
// are used with every row, and replica operands with the rows of their replica.
func binary(c *call) {
	y := c.out(0)
	a, b := broadcastIndex(c.in(0).typ.Shape, y.typ.Shape), broadcastIndex(c.in(1).typ.Shape, y.typ.Shape)
	f := class.Arithmetic(c.Node)
	for n := range y.lead {
		u, v, dst := c.block(c.in(0), y.typ.Kind, n), c.block(c.in(1), y.typ.Kind, n), y.block(n)
		for i := range dst {
			dst[i] = f(u[a[i]], v[b[i]])
		}
	}
}

var elementary = map[graph.Op]func(float64) float64{
	graph.Exp: tensor.Exp, graph.Log: tensor.Log, graph.Sqrt: math.Sqrt,
}

// where selects an operand for each element by a condition. An absent operand counts as +0.
func where(c *call) {
	y := c.out(0)
	test := broadcastIndex(c.in(0).typ.Shape, y.typ.Shape)
	for k, yes := range []bool{true, false} {
		x := c.in(1 + k)
		if x == nil {
			continue
		}
		index := broadcastIndex(x.typ.Shape, y.typ.Shape)
		for n := range y.lead {
			u, v, dst := c.block(c.in(0), y.typ.Kind, n), c.block(x, y.typ.Kind, n), y.block(n)
			for i := range dst {
				if (u[test[i]] != 0) == yes {
					dst[i] = v[index[i]]
				}
			}
		}
	}
}

// compare computes 1 where the comparison is true, and 0 elsewhere. An absent operand counts as 0.
func compare(c *call) {
	if c.in(1) != nil {
		binary(c)
		return
	}
	f := class.Arithmetic(c.Node)
	for i, v := range c.in(0).f {
		c.out(0).f[i] = f(v, 0)
	}
}

func round(c *call) {
	f := class.Rounding(c.Node)
	for i, v := range c.in(0).f {
		c.out(0).f[i] = f(v)
	}
}

func unary(c *call) {
	f := elementary[c.Op]
	for i, v := range c.in(0).f {
		c.out(0).f[i] = f(v)
	}
}

// affine computes by*x + add, or by*x. For f32 the constants, the product and the sum are each
// rounded to f32.
func affine(c *call) {
	x, y := c.in(0), c.out(0)
	rounded := func(v float64) float64 { return v }
	if x.typ.DType == tensor.F32 && !c.f64 {
		rounded = func(v float64) float64 { return float64(float32(v)) }
	}
	by, add := rounded(c.Float("by")), rounded(c.Float("add"))
	if add == 0 {
		add = math.Copysign(0, -1) // adding -0 changes no value
	}
	for i, v := range x.f {
		y.f[i] = rounded(float64(by*v)) + add
	}
}
