package graph

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

func inferPool(c *inference) error {
	x, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	w, err := c.poolWindow(x[1:])
	if err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x[0], w.Extent(0, x[1]), w.Extent(1, x[2]))
}

// poolWindow reads the window of a pool over an image of the given size and
// checks that every window holds a real element.
func (c *inference) poolWindow(size []int) (Window, error) {
	k, err := c.wantInts("kernel", 2, 1)
	if err != nil {
		return Window{}, err
	}
	w, err := c.window(k[0], k[1])
	if err != nil {
		return w, err
	}
	for a := range 2 {
		last := (w.Extent(a, size[a]) - 1) * w.Stride[a]
		if w.Pad[a] >= k[a] || last >= size[a]+w.Pad[a] {
			return w, fmt.Errorf("padding %v leaves a window of %v without an element of the image %v", w.Pad, k, size)
		}
	}
	return w, nil
}

func inferMaxPoolGrad(c *inference) error {
	x, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	w, err := c.poolWindow(x[1:])
	if err != nil {
		return err
	}
	dy := []int{x[0], w.Extent(0, x[1]), w.Extent(1, x[2])}
	if err := c.want(1, Rows, tensor.F32, dy); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferAvgPoolGrad(c *inference) error {
	dy, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	size, err := c.wantInts("size", 2, 1)
	if err != nil {
		return err
	}
	w, err := c.poolWindow(size)
	if err != nil {
		return err
	}
	if w.Extent(0, size[0]) != dy[1] || w.Extent(1, size[1]) != dy[2] {
		return fmt.Errorf("gradient of shape %v does not come from an image of size %v", dy, size)
	}
	return c.yield(Rows, tensor.F32, dy[0], size[0], size[1])
}

func inferGlobalAvgPool(c *inference) error {
	x, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x[0], 1, 1)
}

func inferGlobalAvgPoolGrad(c *inference) error {
	dy, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	size, err := c.wantInts("size", 2, 1)
	if err != nil {
		return err
	}
	if dy[1] != 1 || dy[2] != 1 {
		return fmt.Errorf("operand 0 has shape %v, want [channels,1,1]", dy)
	}
	return c.yield(Rows, tensor.F32, dy[0], size[0], size[1])
}
