package onnx

import (
	"math"
	"strconv"

	"github.com/bnctl/bnctl/graph"
)

// norm is the p-th root of a sum or a mean of the p-th powers of x. x has no negative elements
// unless p is 2. Powers of large values overflow float32: squares do from 1.8e19 on. These values
// are divided by a power of two first, and the root is multiplied by it. Smaller values are not
// divided, so their roots do not change.
type norm struct {
	p            int
	powers, root string // suffixes of the names of nodes
	sum          func(suffix string, powers graph.Value) graph.Value
}

// mostLevels is the maximum number of powers of two by which norm tries to divide large
// values.
const mostLevels = 8

// add adds the nodes that compute the norm of x.
func (n norm) add(c *call, x graph.Value) graph.Value {
	step := 220 / n.p // a level divides the values by 2^step
	levels := (128-126/n.p+8+step-1)/max(step, 1) + 1
	if levels > mostLevels {
		levels = 1
	}
	v := graph.None
	for k := levels - 1; k >= 0; k-- {
		total, root := n.addLevel(c, x, k, step)
		if v == graph.None {
			v = root
			continue
		}
		name := n.root
		if k > 0 {
			name += suffixOf(k) + ".or_smaller"
		}
		fits := c.compare(".fits"+suffixOf(k), "less", total, c.number("infinity", math.Inf(1)))
		v = c.node(graph.Where, name, []graph.Value{fits, root, v})
	}
	return v
}

// addLevel adds the sum and the root for values that are divided k times. If k is positive, the gradient
// of the root is made finite at 0, because the divided values may become 0.
func (n norm) addLevel(c *call, x graph.Value, k, step int) (total, root graph.Value) {
	suffix, by := suffixOf(k), math.Ldexp(1, -min(k*step, 120))
	if k > 0 {
		x = c.node(graph.Affine, ".values"+suffix, []graph.Value{x}, "by", by)
	}
	if n.p == 2 {
		total = c.node(graph.Mul, n.powers+suffix, []graph.Value{x, x})
	} else {
		total = c.node(graph.Pow, n.powers+suffix, []graph.Value{x, c.number("power", float64(n.p))})
	}
	total = n.sum(suffix, total)
	from := total
	if k > 0 {
		from = c.node(graph.Clip, ".positive"+suffix, []graph.Value{total}, "min", 0x1p-126, "max", math.Inf(1))
	}
	if n.p == 2 {
		root = c.node(graph.Sqrt, n.root+".plain"+suffix, []graph.Value{from})
	} else {
		root = c.node(graph.Pow, n.root+".plain"+suffix, []graph.Value{from, c.number("root", 1/float64(n.p))})
	}
	if k > 0 {
		root = c.node(graph.Affine, n.root+".larger"+suffix, []graph.Value{root}, "by", 1/by)
	}
	return total, root
}

// suffixOf returns the suffix of the names of nodes for values that are divided k times.
func suffixOf(k int) string {
	if k == 0 {
		return ""
	}
	return ".smaller" + strconv.Itoa(k)
}
