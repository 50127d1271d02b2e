package graph

// Gradients of int8 operations pass straight through rounding (Bengio, Léonard, Courville 2013), and
// stop where a result is at a bound. They are float32, and the gradient of a map of bytes is per step:
//
//	y = to(f32(sum)*by), sum = bias + all q*(x - x_zero)      forward, bytes
//	dx = all dy*(q*by), for min < y < max                     backward, in steps of x and y
//	dw = all dy*(x - x_zero)*x_scale/scale                    backward, of the weights that are trained
//
// The gradient of a table is its mean slope over nine bytes, because a table of whole numbers has no
// slope between two neighbouring bytes. Weights that are trained become bytes by QuantizeWeight.
// Weights that are state have no gradient.

// insideRange returns dy where the result is between its bounds, and 0 at a bound, where the result is
// clamped and a relu changes its slope.
func (g *gradient) insideRange(dy Value) Value {
	y, least, most := g.node.Out[0], 0, 255
	if g.node.Op.has("min") {
		least, most = g.node.Int("min"), g.node.Int("max")
	}
	for _, bound := range []int{least, most} {
		dy = g.op(Where, "inside", nil, g.number(y, 1, bound), dy)
	}
	return dy
}

// attrsOf returns the attributes of the node that operation op also has.
func (g *gradient) attrsOf(op Op) (attrs Attrs) {
	for _, a := range g.node.Attrs {
		if op.has(a.Key) {
			attrs = append(attrs, a)
		}
	}
	return attrs
}

// number returns scale*(q - zero) of bytes q.
func (g *gradient) number(q Value, scale float64, zero int) Value {
	return g.op(Dequantize, "number", Attrs{}.With("scale", scale).With("zero", zero), q)
}

func straightQuantize(g *gradient, dy Value) {
	g.give(0, g.scale("dx", g.insideRange(dy), 1/g.node.Float("scale")))
}

func straightDequantize(g *gradient, dy Value) {
	g.give(0, g.scale("dx", dy, g.node.Float("scale")))
}

// weightOf returns the node that computes the bytes of the weight, or nil after a failure.
func (g *gradient) weightOf() *Node {
	i := g.maker[g.node.In[1]]
	if i < 0 || g.forward.Nodes[i].Op != QuantizeWeight {
		g.fail("its weight is bytes, which have no gradient")
		return nil
	}
	return &g.forward.Nodes[i]
}

// straightProduct gives the gradients of an int8 product. toInput and toWeight are the operations of
// the float32 product, with their attributes.
func (g *gradient) straightProduct(dy Value, toInput, toWeight Op, inputAttrs, weightAttrs Attrs) {
	if !g.node.Bool("float") {
		dy = g.insideRange(dy)
	}
	w := g.weightOf()
	if w == nil {
		return
	}
	if g.needs(0) {
		g.give(0, g.op(toInput, "dx", inputAttrs, dy, w.Out[3]))
	}
	scale := w.Float("scale")
	if g.depends[w.In[0]] {
		x := g.number(g.node.In[0], w.Float("x_scale")/scale, g.node.Int("x_zero"))
		g.terms[w.In[0]] = append(g.terms[w.In[0]], term{value: g.op(toWeight, "dw", weightAttrs, x, dy)})
	}
	if g.depends[w.In[1]] {
		db := g.scale("db", g.op(ChannelSum, "db", nil, dy), 1/scale)
		g.terms[w.In[1]] = append(g.terms[w.In[1]], term{value: db})
	}
}

func straightConvInt8(g *gradient, dy Value) {
	n := g.node
	g.straightProduct(dy, ConvGradInput, ConvGradWeight,
		g.attrsOf(ConvGradInput).With("size", g.shape(n.In[0])[1:]),
		g.attrsOf(ConvGradWeight).With("kernel", g.shape(n.In[1])[2:]))
}

func straightDenseInt8(g *gradient, dy Value) {
	g.straightProduct(dy, DenseGradInput, DenseGradWeight, nil, nil)
}

func straightAddInt8(g *gradient, dy Value) {
	dy = g.insideRange(dy)
	for i, by := range []string{"a_by", "b_by"} {
		if g.needs(i) {
			g.give(i, g.scale("d"+by[:1], dy, g.node.Float(by)))
		}
	}
}

func straightMulInt8(g *gradient, dy Value) {
	dy = g.insideRange(dy)
	for i, zero := range []string{"b_zero", "a_zero"} { // zero point of the other operand
		if g.needs(i) {
			other := g.number(g.node.In[1-i], g.node.Float("by"), g.node.Int(zero))
			suffix := "d" + "ab"[i:i+1]
			g.give(i, g.fit(suffix, g.op(Mul, suffix, nil, dy, other), i))
		}
	}
}

func straightAvgPoolInt8(g *gradient, dy Value) {
	n := g.node
	dy = g.scale("dy.by", g.insideRange(dy), n.Float("by"))
	g.give(0, g.op(AvgPoolGrad, "dx", g.attrsOf(AvgPoolGrad).With("size", g.shape(n.In[0])[1:]), dy))
}

func straightMaxPoolInt8(g *gradient, dy Value) {
	x := g.number(g.node.In[0], 1, 0)
	g.give(0, g.op(MaxPoolGrad, "dx", g.attrsOf(MaxPoolGrad), x, dy))
}

// straightTableInt8 uses the slope of the table over nine bytes. Beyond an end of the table its last entry
// is repeated, so that the slope is flatter there.
func straightTableInt8(g *gradient, dy Value) {
	const reach = 4
	table := func(move int) Value { // the entries of the table for x + move
		x := g.number(g.node.In[0], 1, max(-move, 0))
		moved := g.op(Quantize, "moved", Attrs{}.With("scale", 1.0).With("zero", max(move, 0)), x)
		return g.number(g.op(TableInt8, "table", nil, moved, g.node.In[1]), 1, 0)
	}
	slope := g.op(Sub, "slope", nil, table(reach), table(-reach))
	g.give(0, g.scale("dx", g.op(Mul, "dx", nil, dy, slope), 1.0/(2*reach)))
}
