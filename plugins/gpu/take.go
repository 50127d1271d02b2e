package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/tensor"
)

func buildTake(c *compiler) {
	x, y, axis := c.in(0), c.out(0), c.node.Int("axis")
	kernel := map[int]string{1: "take1", 4: "take4", 8: "take8"}[y.DType.Size()]
	c.launch(kernel, y.Kind, y.count, x, y, c.table(c.node.Ints("index")), y.count, y.Shape[axis], x.Shape[axis],
		tensor.Count(x.Shape[axis+1:]), x.count)
}

func buildTakeGrad(c *compiler) {
	dy, dx, axis := c.in(0), c.out(0), c.node.Int("axis")
	kernel := "take_back32"
	if dx.DType == tensor.F64 {
		kernel = "take_back64"
	}
	ends, all := class.Takers(c.node, dx.Shape[axis])
	c.launch(kernel, dx.Kind, dx.count, dy, dx, c.table(ends, all), dx.count, dy.Shape[axis], dx.Shape[axis],
		tensor.Count(dx.Shape[axis+1:]), dy.count)
}
