package graph

import (
	"cmp"
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// weight checks operand i as a kernel and returns its shape.
func (c *inference) weight(i int) ([]int, error) {
	t := c.in(i)
	if t.Kind != Whole || t.DType != tensor.F32 || len(t.Shape) != 4 {
		return nil, fmt.Errorf("operand %d is %v, want a kernel whole f32 of rank 4", i, t)
	}
	return t.Shape, nil
}

func (c *inference) bias(i, channels int) error {
	if !c.has(i) {
		return nil
	}
	return c.want(i, Whole, tensor.F32, []int{channels})
}

func checkGroups(groups, in, out, perGroup int) error {
	if in%groups != 0 || out%groups != 0 || in/groups != perGroup {
		return fmt.Errorf(
			"%d input and %d output channels in %d groups do not fit a kernel with %d channels per group", in, out,
			groups, perGroup)
	}
	return nil
}

func inferConv(c *inference) error {
	x, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	k, err := c.weight(1)
	if err != nil {
		return err
	}
	w, err := c.window(k[2], k[3])
	if err := cmp.Or(err, c.bias(2, k[0])); err != nil {
		return err
	}
	if err := checkGroups(w.Groups, x[0], k[0], k[1]); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, k[0], w.Extent(0, x[1]), w.Extent(1, x[2]))
}

func inferConvGradInput(c *inference) error {
	dy, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	k, err := c.weight(1)
	if err != nil {
		return err
	}
	w, err := c.window(k[2], k[3])
	if err != nil {
		return err
	}
	size, err := c.wantInts("size", 2, 1)
	if err != nil {
		return err
	}
	in := k[1] * w.Groups
	if err := checkGroups(w.Groups, in, k[0], k[1]); err != nil {
		return err
	}
	if dy[0] != k[0] || w.Extent(0, size[0]) != dy[1] || w.Extent(1, size[1]) != dy[2] {
		return fmt.Errorf("gradient of shape %v does not come from an input of size %v", dy, size)
	}
	return c.yield(Rows, tensor.F32, in, size[0], size[1])
}

func inferConvGradWeight(c *inference) error {
	x, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	dy, err := c.rows(1, 3)
	if err != nil {
		return err
	}
	k, err := c.wantInts("kernel", 2, 1)
	if err != nil {
		return err
	}
	w, err := c.window(k[0], k[1])
	if err != nil {
		return err
	}
	if err := checkGroups(w.Groups, x[0], dy[0], x[0]/w.Groups); err != nil {
		return err
	}
	if w.Extent(0, x[1]) != dy[1] || w.Extent(1, x[2]) != dy[2] {
		return fmt.Errorf("gradient of shape %v does not come from an input of shape %v", dy, x)
	}
	return c.yield(Replica, tensor.F32, dy[0], x[0]/w.Groups, k[0], k[1])
}

func inferConvTranspose(c *inference) error {
	x, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	k, err := c.weight(1)
	if err != nil {
		return err
	}
	w, err := c.window(k[2], k[3])
	if err != nil {
		return err
	}
	extra, err := c.wantInts("output_pad", 2, 0)
	if err != nil {
		return err
	}
	out := k[1] * w.Groups
	if err := cmp.Or(checkGroups(w.Groups, out, x[0], k[1]), c.bias(2, out)); err != nil {
		return err
	}
	if x[0] != k[0] {
		return fmt.Errorf("operand 0 has %d channels, the kernel takes %d", x[0], k[0])
	}
	length := func(a int) int {
		return (x[1+a]-1)*w.Stride[a] - w.Pad[a] - w.Pad[a+2] + w.Dilation[a]*(w.Kernel[a]-1) + extra[a] + 1
	}
	if extra[0] >= max(w.Stride[0], w.Dilation[0]) || extra[1] >= max(w.Stride[1], w.Dilation[1]) {
		return fmt.Errorf("attribute output_pad is %v, want less than stride or dilation", extra)
	}
	return c.yield(Rows, tensor.F32, out, length(0), length(1))
}
