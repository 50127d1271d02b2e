package graph

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

func inferDense(c *inference) error {
	x, err := c.rows(0, 1)
	if err != nil {
		return err
	}
	w := c.in(1)
	if w.Kind != Whole || w.DType != tensor.F32 || len(w.Shape) != 2 || w.Shape[1] != x[0] {
		return fmt.Errorf("operand 1 is %v, want whole f32[outputs,%d]", w, x[0])
	}
	if err := c.bias(2, w.Shape[0]); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, w.Shape[0])
}

func inferDenseGradInput(c *inference) error {
	dy, err := c.rows(0, 1)
	if err != nil {
		return err
	}
	w := c.in(1)
	if w.Kind != Whole || w.DType != tensor.F32 || len(w.Shape) != 2 || w.Shape[0] != dy[0] {
		return fmt.Errorf("operand 1 is %v, want whole f32[%d,inputs]", w, dy[0])
	}
	return c.yield(Rows, tensor.F32, w.Shape[1])
}

func inferDenseGradWeight(c *inference) error {
	x, err := c.rows(0, 1)
	if err != nil {
		return err
	}
	dy, err := c.rows(1, 1)
	if err != nil {
		return err
	}
	return c.yield(Replica, tensor.F32, dy[0], x[0])
}
