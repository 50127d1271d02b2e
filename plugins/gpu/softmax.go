package gpu

import "github.com/bnctl/bnctl/graph"

// softmaxOps are softmax and its gradient.
var softmaxOps = map[graph.Op]func(c *compiler){
	graph.Softmax:        buildSoftmax,
	graph.LogSoftmax:     buildSoftmax,
	graph.SoftmaxGrad:    buildSoftmax,
	graph.LogSoftmaxGrad: buildSoftmax,
}

// buildSoftmax computes the softmax of each line along the node's axis.
func buildSoftmax(c *compiler) {
	y, axis, logarithm := c.out(0), c.node.Int("axis"), 0
	if c.node.Op == graph.LogSoftmax || c.node.Op == graph.LogSoftmaxGrad {
		logarithm = 1
	}
	length, step := y.Shape[axis], rowMajor(y.Shape)[axis]
	lines := y.count / max(length, 1)
	if dy := c.in(1); dy != nil {
		sums := c.temp(y.Kind, 8*lines)
		c.launch("line_sums", y.Kind, lines, c.in(0), dy, sums, lines, length, step, logarithm)
		c.launch("softmax_back", y.Kind, y.count, c.in(0), dy, sums, y, y.count, length, step, logarithm)
		return
	}
	totals := c.temp(y.Kind, 8*lines)
	c.launch("line_totals", y.Kind, lines, c.in(0), totals, lines, length, step)
	c.launch("softmax", y.Kind, y.count, c.in(0), totals, y, y.count, length, step, logarithm)
}

// logs launches the kernel that computes, for each line of x, the values that the gradient of a loss needs.
func (c *compiler) logs(x *value, lines, length, step int) *slot {
	logs := c.temp(x.Kind, 16*lines)
	c.launch("line_logs", x.Kind, lines, x, logs, lines, length, step)
	return logs
}
