package gpu

import "github.com/bnctl/bnctl/graph"

// softmaxOps are softmax and its gradient.
var softmaxOps = map[graph.Op]func(c *compiler){
	graph.Softmax:        buildSoftmax,
	graph.LogSoftmax:     buildSoftmax,
	graph.SoftmaxGrad:    buildSoftmax,
	graph.LogSoftmaxGrad: buildSoftmax,
}

// buildSoftmax treats lines along the node's axis.
func buildSoftmax(c *compiler) {
	y, axis, logarithm := c.out(0), c.node.Int("axis"), 0
	if c.node.Op == graph.LogSoftmax || c.node.Op == graph.LogSoftmaxGrad {
		logarithm = 1
	}
	length, step := y.Shape[axis], rowMajor(y.Shape)[axis]
	if dy := c.in(1); dy != nil {
		c.launch("softmax_back", y.Kind, y.count, c.in(0), dy, y, y.count, length, step, logarithm)
		return
	}
	c.launch("softmax", y.Kind, y.count, c.in(0), y, y.count, length, step, logarithm)
}
