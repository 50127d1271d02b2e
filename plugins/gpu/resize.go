package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// resizeOps resize images.
var resizeOps = map[graph.Op]func(c *compiler){
	graph.Upsample:     buildUpsample,
	graph.UpsampleGrad: buildUpsampleGrad,
}

// resizing returns the tables that kernels/22_resize.cl reads for an image and the resized image, given
// their shapes. For each axis, table has the two elements of the original that each element of the
// result mixes, and the range of results that mix each element of the original.
func (c *compiler) resizing(original, result []int) (table, weights *constant) {
	lists := [][]int{original[1:], result[1:]}
	var reach [][]int
	var upper []float64
	for axis := 1; axis <= 2; axis++ {
		mixes, of := class.Interpolations(c.node, original[axis], result[axis]), make([]int, 2*original[axis])
		for i, m := range mixes {
			lists = append(lists, []int{m.Low, m.High})
			upper = append(upper, m.Weight)
			for _, at := range []int{m.Low, m.High} {
				if of[2*at+1] == 0 {
					of[2*at] = i
				}
				of[2*at+1] = i + 1
			}
		}
		reach = append(reach, of)
	}
	return c.table(append(lists, reach...)...), c.doubles(upper)
}

func buildUpsample(c *compiler) {
	x, y := c.in(0), c.out(0)
	table, weights := c.resizing(x.Shape, y.Shape)
	c.launch("resize", y.Kind, y.count, x, y, table, weights, y.count, x.count)
}

func buildUpsampleGrad(c *compiler) {
	dy, dx := c.in(0), c.out(0)
	table, weights := c.resizing(dx.Shape, dy.Shape)
	c.launch("resize_back", dx.Kind, dx.count, dy, dx, table, weights, dx.count, dy.count)
}
