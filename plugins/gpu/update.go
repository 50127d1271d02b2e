package gpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// updateOps are the optimizers, and operations that only optimizers use.
var updateOps = map[graph.Op]func(c *compiler){
	graph.SGD:        buildSGD,
	graph.AdamW:      buildAdamW,
	graph.LARS:       buildLARS,
	graph.EMA:        buildEMA,
	graph.SumSquares: buildSumSquares,
	graph.TrustRatio: buildTrustRatio,
	graph.ClipFactor: buildClipFactor,
	graph.Dropout:    buildDropout,
}

// update launches a kernel over the elements of a whole value. Its arguments are all operands, all
// results and the numbers.
func (c *compiler) update(kernel string, numbers ...any) {
	var args []any
	for i := range c.node.In {
		args = append(args, c.in(i))
	}
	for i := range c.node.Out {
		args = append(args, c.out(i))
	}
	n := c.out(0).count
	c.launch(kernel, graph.Whole, n, append(append(args, n), numbers...)...)
}

// optimize is update for a kernel of an optimizer, which also reports whether its results are finite.
func (c *compiler) optimize(kernel string, numbers ...any) {
	if c.found == nil {
		c.found = c.private(0)
	}
	at := c.found.bytes / 4
	c.found.bytes += (c.out(0).count + Threads - 1) / Threads * 4
	c.update(kernel, append([]any{c.found, at}, numbers...)...)
	if c.checked == nil {
		c.checked = map[graph.Value]bool{}
	}
	for _, v := range c.node.Out {
		c.checked[v] = true
	}
}

func buildSGD(c *compiler) {
	nesterov := 0
	if c.node.Bool("nesterov") {
		nesterov = 1
	}
	c.optimize("sgd", c.node.Float("momentum"), c.node.Float("weight_decay"), nesterov)
}

func buildAdamW(c *compiler) {
	c.optimize("adamw", 1-c.node.Float("beta1"), 1-c.node.Float("beta2"), c.node.Float("beta2"),
		c.node.Float("eps"), c.node.Float("weight_decay"))
}

func buildLARS(c *compiler) {
	c.optimize("lars", c.node.Float("momentum"), c.node.Float("weight_decay"))
}

func buildEMA(c *compiler) { c.optimize("ema", 1-c.node.Float("decay")) }

func buildTrustRatio(c *compiler) {
	c.update("trust_ratio", c.node.Float("eta"), c.node.Float("weight_decay"), c.node.Float("eps"))
}

func buildClipFactor(c *compiler) { c.update("clip_factor", c.node.Float("max")) }

// squaresBlock is the number of elements that each group of lanes sums.
const squaresBlock = 1024

func buildSumSquares(c *compiler) {
	x, y := c.in(0), c.out(0)
	blocks := max(1, (x.count+squaresBlock-1)/squaresBlock)
	p := c.temp(graph.Whole, 8*blocks)
	c.launch("squares", graph.Whole, blocks, x, p, blocks, x.count)
	c.launch("squares_total", graph.Whole, 1, p, y, 1, blocks)
}

func buildDropout(c *compiler) {
	x, ident, y := c.in(0), c.in(1), c.out(0)
	if ident == nil {
		c.refuseNode("dropout without the operand ident only marks a place")
		return
	}
	stream := tensor.StreamDropout + tensor.Stream(c.node.Int("stream"))
	key := tensor.NewPhilox(uint64(c.node.Int("seed")), stream).Key
	c.launch("dropout", graph.Rows, y.count, x, ident, y, y.count, int(int32(key[0])), int(int32(key[1])),
		c.node.Float("p"))
}
