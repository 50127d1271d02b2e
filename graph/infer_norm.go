package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

func inferMoments(c *inference) error {
	_, channels, err := c.channels(0)
	if err != nil {
		return err
	}
	return c.yield(Replica, tensor.F64, 1+2*channels)
}

func inferRunningMoments(c *inference) error {
	m := c.in(0)
	if m.Kind != Whole || m.DType != tensor.F32 || len(m.Shape) != 1 {
		return fmt.Errorf("operand 0 is %v, want whole f32[channels]", m)
	}
	if err := c.want(1, Whole, tensor.F32, m.Shape); err != nil {
		return err
	}
	return c.yield(Whole, tensor.F64, 1+2*m.Shape[0])
}

func inferSelectMoments(c *inference) error {
	m := c.in(0)
	if m.Kind != Replica || m.DType != tensor.F64 || len(m.Shape) != 1 {
		return fmt.Errorf("operand 0 is %v, want moments of replicas", m)
	}
	if err := c.want(1, Whole, tensor.F64, m.Shape); err != nil {
		return err
	}
	return c.yield(Replica, tensor.F64, m.Shape...)
}

// moments checks that operand i has moments of the kind that the attribute
// over names.
func (c *inference) moments(i, channels int) error {
	if err := c.oneOf("over", "batch", "replica"); err != nil {
		return err
	}
	k := Whole
	if c.node.Text("over") == "replica" {
		k = Replica
	}
	t := c.in(i)
	if t.DType == tensor.F64 && slices.Equal(t.Shape, []int{1 + 2*channels}) && t.Kind != k {
		return fmt.Errorf("normalises over %s, but the moments are %v: an all_reduce is missing or one too many",
			c.node.Text("over"), t)
	}
	return c.want(i, k, tensor.F64, []int{1 + 2*channels})
}

func inferNormalise(c *inference) error {
	x, channels, err := c.channels(0)
	if err != nil {
		return err
	}
	if err := cmp.Or(c.moments(1, channels), c.want(2, Whole, tensor.F32, []int{channels}),
		c.want(3, Whole, tensor.F32, []int{channels}), c.eps()); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func (c *inference) eps() error {
	if e := c.node.Float("eps"); !(e > 0 && e < 1) {
		return fmt.Errorf("attribute eps is %g, want more than 0 and less than 1", e)
	}
	return nil
}

func inferNormaliseGradSums(c *inference) error {
	x, channels, err := c.channels(0)
	if err != nil {
		return err
	}
	if err := cmp.Or(c.want(1, Rows, tensor.F32, x), c.moments(2, channels)); err != nil {
		return err
	}
	return c.yield(Replica, tensor.F64, 2*channels)
}

func inferNormaliseGradInput(c *inference) error {
	x, channels, err := c.channels(0)
	if err != nil {
		return err
	}
	if err := cmp.Or(c.want(1, Rows, tensor.F32, x), c.moments(2, channels)); err != nil {
		return err
	}
	if err := cmp.Or(c.want(3, c.in(2).Kind, tensor.F64, []int{2 * channels}),
		c.want(4, Whole, tensor.F32, []int{channels}), c.eps()); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferNormaliseGradParams(c *inference) error {
	m, s := c.in(0), c.in(1)
	if m.DType != tensor.F64 || len(m.Shape) != 1 || m.Shape[0]%2 != 1 || m.Kind == Rows {
		return fmt.Errorf("operand 0 is %v, want moments", m)
	}
	channels := m.Shape[0] / 2
	if s.Kind == Rows || m.Kind == Replica && s.Kind == Whole {
		return fmt.Errorf("operand 1 is %v, want sums of the kind of the moments, or of replicas", s)
	}
	if err := cmp.Or(c.want(1, s.Kind, tensor.F64, []int{2 * channels}), c.eps()); err != nil {
		return err
	}
	return cmp.Or(c.yield(s.Kind, tensor.F32, channels), c.yield(s.Kind, tensor.F32, channels))
}

func (c *inference) track() error {
	if d := c.node.Float("decay"); !(d >= 0 && d <= 1) {
		return fmt.Errorf("attribute decay is %g, want 0 to 1", d)
	}
	return c.oneOf("variance", "unbiased", "biased")
}

func inferBatchNorm(c *inference) error {
	x, channels, err := c.channels(0)
	if err != nil {
		return err
	}
	for i := 1; i < 5; i++ {
		if err := c.want(i, Whole, tensor.F32, []int{channels}); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.eps(), c.track()); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferTrack(c *inference) error {
	m := c.in(0)
	if m.Kind == Rows || m.DType != tensor.F64 || len(m.Shape) != 1 || m.Shape[0]%2 != 1 {
		return fmt.Errorf("operand 0 is %v, want moments", m)
	}
	shape := []int{m.Shape[0] / 2}
	if err := cmp.Or(c.want(1, Whole, tensor.F32, shape), c.want(2, Whole, tensor.F32, shape),
		c.track()); err != nil {
		return err
	}
	for _, i := range c.node.In[1:] {
		if c.fn.Values[i].State == "" {
			return fmt.Errorf("%s is not a state tensor", c.fn.Values[i].Name)
		}
	}
	return nil
}

func inferAllReduce(c *inference) error {
	t := c.in(0)
	if err := c.oneOf("of", "sum", "moments"); err != nil {
		return err
	}
	if t.Kind != Replica || t.DType != tensor.F32 && t.DType != tensor.F64 {
		return fmt.Errorf("operand 0 is %v, want replica f32 or f64", t)
	}
	if c.node.Text("of") == "moments" && (t.DType != tensor.F64 || len(t.Shape) != 1 || t.Shape[0]%2 != 1) {
		return fmt.Errorf("operand 0 is %v, want moments", t)
	}
	return c.yield(Whole, t.DType, t.Shape...)
}

func inferConnection(c *inference) error {
	t := c.in(0)
	if t.Kind != Rows {
		return fmt.Errorf("operand 0 is %v, want rows", t)
	}
	if c.node.Int("replicas") < 1 {
		return fmt.Errorf("attribute replicas is %d, want at least 1", c.node.Int("replicas"))
	}
	c.out = append(c.out, t)
	return nil
}
