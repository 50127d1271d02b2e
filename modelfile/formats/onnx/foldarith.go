package onnx

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func foldUnary(c *call) numbers {
	n := c.numbers(0)
	if c.err != nil || !c.takes(n.dtype(), n.shape) {
		return n
	}
	out := n.like(n.shape)
	for k, v := range n.i {
		c.known(v)
		out.i[k] = v
		if c.n.OpType == "Neg" {
			out.i[k] = -v
		}
	}
	for k, v := range n.f {
		out.f[k] = unary(c.n.OpType, v)
	}
	return out
}

func unary(op string, v float32) float32 {
	switch op {
	case "Neg":
		return -v
	case "Floor":
		return float32(math.Floor(float64(v)))
	case "Ceil":
		return float32(math.Ceil(float64(v)))
	case "Sqrt":
		return float32(math.Sqrt(float64(v)))
	}
	return float32(tensor.Exp(float64(v)))
}

// foldBinary computes Add, Sub, Mul and Div of operands that broadcast.
func foldBinary(c *call) numbers {
	a, b := c.numbers(0), c.numbers(1)
	if c.err != nil {
		return a
	}
	if (a.f == nil) != (b.f == nil) {
		c.fail("operands of different types")
		return a
	}
	shape, err := graph.Broadcast(a.shape, b.shape)
	if err != nil {
		c.fail("%w", err)
	}
	if c.err != nil || !c.takes(a.dtype(), shape) || !c.takes(a.dtype(), shape) ||
		!c.takes(a.dtype(), shape) {
		return a
	}
	a, b = a.spread(shape), b.spread(shape)
	out := a.like(shape)
	for k := range a.f {
		out.f[k] = compute(c.n.OpType, a.f[k], b.f[k])
	}
	for k := range a.i {
		c.known(a.i[k])
		c.known(b.i[k])
		if b.i[k] == 0 && c.n.OpType == "Div" {
			c.fail("divides by zero")
			return out
		}
		out.i[k] = compute(c.n.OpType, a.i[k], b.i[k])
	}
	return out
}

func compute[T int64 | float32](op string, a, b T) T {
	switch op {
	case "Add":
		return a + b
	case "Sub":
		return a - b
	case "Mul":
		return a * b
	}
	return a / b
}

// spread broadcasts n to a shape.
func (n numbers) spread(shape []int) numbers {
	skip, step := len(shape)-len(n.shape), strides(n.shape)
	return n.picked(shape, func(index []int) int {
		at := 0
		for a, length := range n.shape {
			if length > 1 {
				at += index[skip+a] * step[a]
			}
		}
		return at
	})
}
