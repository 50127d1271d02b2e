package graph

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// matrices checks that operand i is f32, rows or whole, with the matrix [rows, columns], or
// [columns, rows] if it is transposed, after the leading axes.
func (c *inference) matrices(i int, transposed bool) (leading []int, rows, columns int, err error) {
	t := c.in(i)
	if t.DType != tensor.F32 || t.Kind == Replica || len(t.Shape) < 2 {
		return nil, 0, 0, fmt.Errorf("operand %d is %v, want f32 of rows or of the whole with a matrix", i, t)
	}
	n := len(t.Shape) - 2
	if rows, columns = t.Shape[n], t.Shape[n+1]; transposed {
		rows, columns = columns, rows
	}
	return t.Shape[:n], rows, columns, nil
}

func inferMatMul(c *inference) error {
	a, m, k, err := c.matrices(0, c.node.Bool("transpose_a"))
	if err != nil {
		return err
	}
	b, inner, n, err := c.matrices(1, c.node.Bool("transpose_b"))
	if err != nil {
		return err
	}
	if k != inner {
		return fmt.Errorf("inner lengths differ: %v times %v, read as %d by %d times %d by %d",
			c.in(0), c.in(1), m, k, inner, n)
	}
	leading, err := Broadcast(a, b)
	if err != nil {
		return fmt.Errorf("axes before the matrices of %v and %v: %w", c.in(0), c.in(1), err)
	}
	return c.yield(max(c.in(0).Kind, c.in(1).Kind), tensor.F32, append(leading, m, n)...)
}

// gradMatMul computes the gradients dy*b' and a'*dy of y = ab. If an operand holds its matrix transposed,
// its gradient is transposed, too.
func gradMatMul(g *gradient, dy Value) {
	a, b := g.node.In[0], g.node.In[1]
	turnedA, turnedB := g.node.Bool("transpose_a"), g.node.Bool("transpose_b")
	if g.needs(0) {
		x, y, turnX, turnY := dy, b, false, !turnedB
		if turnedA {
			x, y, turnX, turnY = b, dy, turnedB, true
		}
		g.give(0, g.fit("da", g.matMul("da", x, y, turnX, turnY), 0))
	}
	if g.needs(1) {
		x, y, turnX, turnY := a, dy, !turnedA, false
		if turnedB {
			x, y, turnX, turnY = dy, a, true, turnedA
		}
		g.give(1, g.fit("db", g.matMul("db", x, y, turnX, turnY), 1))
	}
}

func (g *gradient) matMul(suffix string, x, y Value, turnX, turnY bool) Value {
	return g.op(MatMul, suffix, Attrs{}.With("transpose_a", turnX).With("transpose_b", turnY), x, y)
}
