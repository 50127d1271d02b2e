package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// poolOps has the pooling operations.
var poolOps = map[graph.Op]func(c *compiler){
	graph.MaxPool:           buildPool,
	graph.AvgPool:           buildPool,
	graph.MaxPoolGrad:       buildPoolGrad,
	graph.AvgPoolGrad:       buildPoolGrad,
	graph.GlobalAvgPoolGrad: buildGlobalAvgPoolGrad,
}

// countPad returns 1 if an average counts padding, otherwise 0.
func (c *compiler) countPad() int {
	switch c.node.Op {
	case graph.AvgPool, graph.AvgPoolGrad, graph.AvgPoolInt8:
		if c.node.Bool("count_pad") {
			return 1
		}
	}
	return 0
}

// pooling is the geometry of the current node, between images of these shapes.
func (c *compiler) pooling(in, out []int) *constant {
	l := class.Layer{Window: c.fn.WindowOf(c.node), C: in[0], H: in[1], W: in[2],
		O: out[0], OH: out[1], OW: out[2]}
	return c.geometry(l, weights{}, byWindow)
}

func buildPool(c *compiler) {
	x, y := c.in(0), c.out(0)
	t := c.pooling(x.Shape, y.Shape)
	if c.node.Op == graph.MaxPool {
		c.launch("max_pool", y.Kind, y.count, x, y, t, y.count, x.count)
		return
	}
	c.launch("avg_pool", y.Kind, y.count, x, y, t, y.count, x.count, c.countPad())
}

func buildPoolGrad(c *compiler) {
	x, dy, dx, ofMax := c.in(0), c.in(len(c.node.In)-1), c.out(0), 0
	if c.node.Op == graph.MaxPoolGrad {
		ofMax = 1
	}
	t := c.pooling(dx.Shape, dy.Shape)
	c.launch("pool_back", dx.Kind, dx.count, x, dy, dx, t, dx.count, dy.count, ofMax, c.countPad())
}

func buildGlobalAvgPoolGrad(c *compiler) {
	dy, dx := c.in(0), c.out(0)
	c.launch("global_avg_pool_back", dx.Kind, dx.count, dy, dx, dx.count, dx.positions())
}
