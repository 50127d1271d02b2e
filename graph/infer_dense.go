package graph

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// lines checks that operand i has rows of f32 with an axis after the leading ones. It returns its shape
// and the length of that axis.
func (c *inference) lines(i int) (shape []int, last int, err error) {
	s, err := c.rows(i, -1)
	if n := c.node.Int("leading"); err == nil && (n < 0 || len(s) != n+1) {
		err = fmt.Errorf("operand %d has shape %v, want one axis behind %d leading ones", i, s, n)
	}
	if err != nil {
		return nil, 0, err
	}
	return s, s[len(s)-1], nil
}

// along returns a shape with another last axis.
func along(shape []int, last int) []int {
	return append(slices.Clone(shape[:len(shape)-1]), last)
}

func inferDense(c *inference) error {
	x, last, err := c.lines(0)
	if err != nil {
		return err
	}
	w := c.in(1)
	if w.Kind != Whole || w.DType != tensor.F32 || len(w.Shape) != 2 || w.Shape[1] != last {
		return fmt.Errorf("operand 1 is %v, want whole f32[outputs,%d]", w, last)
	}
	if err := c.bias(2, w.Shape[0]); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, along(x, w.Shape[0])...)
}

func inferDenseGradInput(c *inference) error {
	dy, last, err := c.lines(0)
	if err != nil {
		return err
	}
	w := c.in(1)
	if w.Kind != Whole || w.DType != tensor.F32 || len(w.Shape) != 2 || w.Shape[0] != last {
		return fmt.Errorf("operand 1 is %v, want whole f32[%d,inputs]", w, last)
	}
	return c.yield(Rows, tensor.F32, along(dy, w.Shape[1])...)
}

func inferDenseGradWeight(c *inference) error {
	x, in, err := c.lines(0)
	if err != nil {
		return err
	}
	dy, out, err := c.lines(1)
	if err != nil {
		return err
	}
	if !slices.Equal(along(x, 1), along(dy, 1)) {
		return fmt.Errorf("operands have shapes %v and %v, want the same but for the last axis", x, dy)
	}
	return c.yield(Replica, tensor.F32, out, in)
}
