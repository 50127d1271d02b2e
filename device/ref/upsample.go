package ref

import "github.com/bnctl/bnctl/device/class"

// eachTap visits, for every element i of the resized image, the elements of the
// original image (up to four) that i is interpolated from, with their weights.
func (c *call) eachTap(original, result *array, visit func(i, j int, weight float64)) {
	h, w := original.typ.Shape[1], original.typ.Shape[2]
	rows := class.Interpolations(c.Node, h, result.typ.Shape[1])
	columns := class.Interpolations(c.Node, w, result.typ.Shape[2])
	i := 0
	for plane := range result.lead * result.typ.Shape[0] {
		for _, r := range rows {
			for _, col := range columns {
				low, high := (plane*h+r.Low)*w, (plane*h+r.High)*w
				visit(i, low+col.Low, (1-r.Weight)*(1-col.Weight))
				visit(i, low+col.High, (1-r.Weight)*col.Weight)
				visit(i, high+col.Low, r.Weight*(1-col.Weight))
				visit(i, high+col.High, r.Weight*col.Weight)
				i++
			}
		}
	}
}

func upsample(c *call) {
	x, y := c.in(0), c.out(0)
	c.eachTap(x, y, func(i, j int, weight float64) {
		if weight != 0 {
			y.f[i] += float64(weight * x.f[j])
		}
	})
}

func upsampleGrad(c *call) {
	dy, dx := c.in(0), c.out(0)
	c.eachTap(dx, dy, func(i, j int, weight float64) {
		if weight != 0 {
			dx.f[j] += float64(weight * dy.f[i])
		}
	})
}
