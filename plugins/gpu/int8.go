package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// int8Ops are the operations on bytes (docs/int8.md).
var int8Ops = map[graph.Op]func(c *compiler){
	graph.Quantize: buildQuantize, graph.Dequantize: buildDequantize, graph.ConvInt8: buildSumsInt8,
	graph.DenseInt8: buildSumsInt8, graph.AddInt8: buildAddInt8, graph.MulInt8: buildMulInt8,
	graph.AvgPoolInt8: buildAvgPoolInt8, graph.MaxPoolInt8: buildMaxPoolInt8, graph.TableInt8: buildTableInt8,
	graph.ConcatInt8: buildConcat, graph.PadInt8: buildPadInt8,
	graph.QuantizeWeight: buildQuantizeWeight,
}

// bytewise launches a kernel with one thread for each element of the result. Its arguments
// are the operands, the result, the number of elements, others, and then the zero and the
// bounds of the result.
func (c *compiler) bytewise(kernel string, operands []any, others ...any) {
	c.bytewiseAs(class.Int8Of(c.node), kernel, operands, others...)
}

// bytewiseAs is like bytewise but with the zero point and the bounds of q.
func (c *compiler) bytewiseAs(q class.Int8, kernel string, operands []any, others ...any) {
	y := c.out(0)
	args := append(append(operands, y, y.count), others...)
	c.launch(kernel, y.Kind, y.count, append(args, int(q.Zero), int(q.Min), int(q.Max))...)
}

func buildQuantize(c *compiler) {
	c.bytewise("quantize", []any{c.in(0)}, c.node.Float("scale"))
}

func buildDequantize(c *compiler) {
	x, y := c.in(0), c.out(0)
	c.launch("dequantize", y.Kind, y.count, x, y, y.count, c.node.Float("scale"), c.node.Int("zero"))
}

func buildAddInt8(c *compiler) {
	r, joint := class.AddendsOf(c.node), 0
	if r.Joint {
		joint = 1
	}
	c.bytewiseAs(r.Int8, "add_int8", []any{c.in(0), c.in(1)}, float64(r.ABy), float64(r.BBy), float64(r.At),
		joint, int(r.AZero), int(r.BZero))
}

func buildMulInt8(c *compiler) {
	a, b, r := c.in(0), c.in(1), class.FactorsOf(c.node)
	c.bytewiseAs(r.Int8, "mul_int8", []any{a, b}, a.count/max(b.count, 1), float64(r.By), float64(r.At),
		int(r.AZero), int(r.BZero))
}

func buildTableInt8(c *compiler) {
	x, y := c.in(0), c.out(0)
	c.launch("table_int8", y.Kind, y.count, x, c.in(1), y, y.count)
}

func buildMaxPoolInt8(c *compiler) {
	x, y := c.in(0), c.out(0)
	c.launch("max_pool_int8", y.Kind, y.count, x, y, c.pooling(x.Shape, y.Shape), y.count, x.count)
}

func buildAvgPoolInt8(c *compiler) {
	x, y, n := c.in(0), c.out(0), c.node
	window := c.fn.WindowOf(n)
	var by []float32
	for i := range window.Kernel[0] * window.Kernel[1] {
		by = append(by, class.MeanBy(n.Float("by"), i+1))
	}
	c.launch("avg_pool_int8", y.Kind, y.count, x, y, c.pooling(x.Shape, y.Shape), c.floats(by), y.count, x.count,
		c.countPad(), n.Int("x_zero"), n.Int("zero"))
}

// buildSumsInt8 lowers convolutions and dense layers. Results of bytes and of float32 are stored in the
// same way; an argument of the kernel selects the type.
func buildSumsInt8(c *compiler) {
	x, weight, bias, by, y := c.in(0), c.in(1), c.in(2), c.in(3), c.out(0)
	l := c.layerInt8()
	q, zero, asFloat := class.Int8Of(c.node), c.node.Int("x_zero"), 0
	if c.node.Bool("float") {
		asFloat = 1
	}
	t := c.geometry(l, forwardWeights(l), byWindow)
	rounding := []any{t, x.count, zero, asFloat, int(q.Zero), int(q.Min), int(q.Max)}
	if l.O == l.Groups {
		args := []any{x, weight, bias, by, y, y, t, y.count}
		c.launch("conv_int8", y.Kind, y.count, append(args, rounding[1:]...)...)
		return
	}
	if c.matrixUnits(l) {
		c.sumsInt8ByUnits(l, t, rounding[2:])
		return
	}
	channels, taps := l.C/l.Groups, l.Kernel[0]*l.Kernel[1]
	quads := (channels + 3) / 4
	words := l.O * taps * quads
	packed, start := c.private(4*words), c.private(4*l.O)
	c.launchOnChange([]*value{weight, bias}, func() {
		c.launch("pack_int8", graph.Whole, words, weight, packed, words, channels, taps, quads)
		c.launch("start_int8", graph.Whole, l.O, weight, bias, start, l.O, channels*taps, zero)
	})
	b := blockOf(l.O / l.Groups)
	args := []any{x, packed, start, by, y, y}
	c.product(b, "conv_int8_block", y.Kind, b.rowBlocks(l.Groups, l.O), l.OH*l.OW, append(args, rounding...)...)
}

// layerInt8 returns the layer of the current node.
func (c *compiler) layerInt8() class.Layer {
	x, y := c.in(0).Shape, c.out(0).Shape
	if c.node.Op == graph.DenseInt8 {
		one := [2]int{1, 1}
		return class.Layer{Window: graph.Window{Kernel: one, Stride: one, Dilation: one, Groups: 1},
			C: x[0], H: 1, W: 1, O: y[0], OH: 1, OW: 1}
	}
	return class.Layer{Window: c.fn.WindowOf(c.node), C: x[0], H: x[1], W: x[2], O: y[0], OH: y[1], OW: y[2]}
}

// buildQuantizeWeight computes the scale of each channel, and then each weight.
func buildQuantizeWeight(c *compiler) {
	weight, bias, q, start, by, back := c.in(0), c.in(1), c.out(0), c.out(1), c.out(2), c.out(3)
	s := class.WeightsInt8Of(c.node)
	per, steps := weight.count/max(bias.count, 1), c.temp(graph.Whole, 4*bias.count)
	c.launch("quantize_steps", graph.Whole, bias.count, weight, bias, start, by, steps, bias.count, per,
		float64(s.XScale), float64(s.Scale))
	c.launch("quantize_weight", graph.Whole, weight.count, weight, steps, by, q, back, weight.count, per)
}
