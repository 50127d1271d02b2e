package graph

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// labels checks the operands that losses and metrics share.
func (c *inference) labels() ([]int, error) {
	x, _, err := c.channels(0)
	if err != nil {
		return nil, err
	}
	return x, c.want(1, Rows, tensor.I32, append([]int{}, x[1:]...))
}

// target checks the additional attributes of a loss: smoothing, and weights of classes.
func (c *inference) target() error {
	s, weights := c.node.Float("smoothing"), c.node.Floats("weights")
	if !(s >= 0 && s < 1) {
		return fmt.Errorf("attribute smoothing is %g, want at least 0 and less than 1", s)
	}
	both := s > 0 && len(weights) > 0
	if targets := c.node.Bool("weighted_targets"); targets != both {
		return fmt.Errorf("attribute weighted_targets is %t, want %t: it says that there are weights and smoothing",
			targets, both)
	}
	if len(weights) == 0 {
		return nil
	}
	if classes := c.in(0).Shape[0]; len(weights) != classes {
		return fmt.Errorf("attribute weights has %d elements for %d classes", len(weights), classes)
	}
	for _, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat32) {
			return fmt.Errorf("attribute weights has %g, want at least 0", w)
		}
	}
	return nil
}

func inferSoftmaxXent(c *inference) error {
	if _, err := c.labels(); err != nil {
		return err
	}
	if c.has(2) {
		if err := c.want(2, Rows, tensor.F32, []int{}); err != nil {
			return err
		}
	}
	if err := c.target(); err != nil {
		return err
	}
	return c.yield(Replica, tensor.F64, 1)
}

func inferSoftmaxXentGrad(c *inference) error {
	x, err := c.labels()
	if err := cmp.Or(err, c.want(2, Whole, tensor.F32, []int{})); err != nil {
		return err
	}
	if err := c.target(); err != nil {
		return err
	}
	if c.has(3) {
		if err := c.want(3, Rows, tensor.F32, []int{}); err != nil {
			return err
		}
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferCorrect(c *inference) error {
	if _, err := c.labels(); err != nil {
		return err
	}
	return c.yield(Replica, tensor.F64, 2)
}

// update checks tensors operands that share the shape of operand 0, then
// scalars, all whole f32, and yields results of operand 0's type.
func (c *inference) update(tensors, scalars, results int) error {
	shape := append([]int{}, c.in(0).Shape...)
	for i := range tensors {
		if err := c.want(i, Whole, tensor.F32, shape); err != nil {
			return err
		}
	}
	for i := tensors; i < tensors+scalars; i++ {
		if err := c.want(i, Whole, tensor.F32, []int{}); err != nil {
			return err
		}
	}
	for range results {
		if err := c.yield(Whole, tensor.F32, shape...); err != nil {
			return err
		}
	}
	return nil
}

func inferSGD(c *inference) error   { return c.update(3, 1, 2) }
func inferAdamW(c *inference) error { return c.update(4, 3, 3) }
func inferLARS(c *inference) error  { return c.update(3, 2, 2) }
func inferEMA(c *inference) error   { return c.update(2, 0, 1) }

func inferSumSquares(c *inference) error {
	if t := c.in(0); t.Kind != Whole || t.DType != tensor.F32 {
		return fmt.Errorf("operand 0 is %v, want whole f32", t)
	}
	return c.yield(Whole, tensor.F64)
}

func inferTrustRatio(c *inference) error {
	err := cmp.Or(c.want(0, Whole, tensor.F64, []int{}), c.want(1, Whole, tensor.F64, []int{}))
	if err != nil {
		return err
	}
	return c.yield(Whole, tensor.F32)
}

func inferClipFactor(c *inference) error {
	if err := c.want(0, Whole, tensor.F64, []int{}); err != nil {
		return err
	}
	return c.yield(Whole, tensor.F32)
}
