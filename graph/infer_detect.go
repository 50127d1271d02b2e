package graph

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// boxElements is the number of elements of a box in the result of Detect.
const boxElements = 6

func inferDetect(c *inference) error {
	x, err := c.rows(0, 2)
	if err != nil {
		return err
	}
	form := BoxForm(c.node.Text("form"))
	switch rows := form.BoxRows(); {
	case rows == 0:
		return fmt.Errorf("attribute form is %q, which is not the form of a detector", form)
	case x[0] <= rows:
		return fmt.Errorf("operand 0 has shape %v: %d rows have no class in form %s", x, x[0], form)
	}
	if err := c.want(1, Rows, tensor.F32, []int{2}); err != nil {
		return err
	}
	if form != CornersForm || c.has(2) {
		if err := c.want(2, Whole, tensor.F32, []int{x[1], 4}); err != nil {
			return err
		}
	}
	size := c.node.Ints("size")
	if len(size) != 0 && len(size) != 2 || len(size) == 0 && form != CornersForm && form != YOLOXForm {
		return fmt.Errorf("attribute size is %v, want height and width", size)
	}
	for _, n := range size {
		if n < 1 || n > maxLength {
			return fmt.Errorf("attribute size is %v, want 1 to %d", size, maxLength)
		}
	}
	if n := c.node.Int("before"); n < 0 {
		return fmt.Errorf("attribute before is %d, want 0 or more", n)
	}
	starts := c.node.Ints("starts")
	for i, s := range starts {
		if i == 0 && s != 0 || i > 0 && s <= starts[i-1] || s >= x[1] {
			return fmt.Errorf("attribute starts is %v, want increasing numbers from 0 to %d", starts, x[1]-1)
		}
	}
	most := c.node.Int("most")
	if most < 1 || most >= maxLength/boxElements {
		return fmt.Errorf("attribute most is %d, want 1 to %d", most, maxLength/boxElements-1)
	}
	return c.yield(Rows, tensor.F32, boxElements*(1+most))
}
