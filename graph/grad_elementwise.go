package graph

import "slices"

func gradActivation(g *gradient, dy Value) {
	n := g.node
	saved := n.In[0]
	if SavesResult(n.Op) {
		saved = n.Out[0]
	}
	attrs := Attrs{}.With("of", n.Op.String())
	for _, s := range n.Op.row().attrs {
		if ActivationGrad.has(s.key) {
			attrs = attrs.With(s.key, n.attr(s.key))
		}
	}
	g.give(0, g.op(ActivationGrad, "dx", attrs, saved, dy))
}

func gradPrelu(g *gradient, dy Value) {
	x, slope := g.node.In[0], g.node.In[1]
	if g.needs(0) {
		g.give(0, g.op(PreluGradInput, "dx", nil, x, slope, dy))
	}
	if g.needs(1) {
		g.give(1, g.op(PreluGradSlope, "dslope", nil, x, dy))
	}
}

func gradSoftmax(g *gradient, dy Value) {
	g.give(0, g.op(SoftmaxGrad, "dx", g.node.Attrs, g.node.Out[0], dy))
}

func gradLogSoftmax(g *gradient, dy Value) {
	g.give(0, g.op(LogSoftmaxGrad, "dx", g.node.Attrs, g.node.Out[0], dy))
}

func gradAdd(g *gradient, dy Value) {
	for i, suffix := range []string{"da", "db"} {
		if g.needs(i) {
			g.give(i, g.fit(suffix, dy, i))
		}
	}
}

func gradSub(g *gradient, dy Value) {
	if g.needs(0) {
		g.give(0, g.fit("da", dy, 0))
	}
	if g.needs(1) {
		g.give(1, g.scale("db", g.fit("db", dy, 1), -1))
	}
}

func gradMul(g *gradient, dy Value) {
	for i, suffix := range []string{"da", "db"} {
		if g.needs(i) {
			g.give(i, g.fit(suffix, g.op(Mul, suffix, nil, dy, g.node.In[1-i]), i))
		}
	}
}

func gradDiv(g *gradient, dy Value) {
	b, y := g.node.In[1], g.node.Out[0]
	if g.needs(0) {
		g.give(0, g.fit("da", g.op(Div, "da", nil, dy, b), 0))
	}
	if g.needs(1) { // -a/b^2 = -y/b
		d := g.op(Div, "db", nil, g.op(Mul, "db", nil, dy, y), b)
		g.give(1, g.scale("db", g.fit("db", d, 1), -1))
	}
}

// scale multiplies by a constant.
func (g *gradient) scale(suffix string, v Value, factor float64) Value {
	return g.op(Affine, suffix, Attrs{}.With("by", factor), v)
}

// fit sums d, which has the broadcast shape and kind, to the shape and kind of operand i.
func (g *gradient) fit(suffix string, d Value, i int) Value {
	have, want := g.b.Type(d), g.b.Type(g.node.In[i])
	lead := len(have.Shape) - len(want.Shape)
	var axes []int
	for a, n := range have.Shape {
		if a < lead || n > 1 && want.Shape[a-lead] == 1 {
			axes = append(axes, a)
		}
	}
	if len(axes) > 0 {
		d = g.op(ReduceSum, suffix, Attrs{}.With("axes", axes).With("keep", true), d)
	}
	if lead > 0 {
		d = g.op(Reshape, suffix, Attrs{}.With("shape", want.Shape), d)
	}
	if have.Kind == Rows && want.Kind == Whole {
		d = g.op(SumRows, suffix, nil, d)
	}
	return d
}

func gradExp(g *gradient, dy Value) { g.give(0, g.op(Mul, "dx", nil, dy, g.node.Out[0])) }

func gradLog(g *gradient, dy Value) { g.give(0, g.op(Div, "dx", nil, dy, g.node.In[0])) }

func gradSqrt(g *gradient, dy Value) {
	g.give(0, g.scale("dx", g.op(Div, "dx", nil, dy, g.node.Out[0]), 0.5))
}

func gradAffine(g *gradient, dy Value) { g.give(0, g.scale("dx", dy, g.node.Float("by"))) }

func gradReduceSum(g *gradient, dy Value) { g.give(0, g.spread(dy)) }

func gradReduceMean(g *gradient, dy Value) {
	count := 1
	for _, a := range g.node.Ints("axes") {
		count *= g.shape(g.node.In[0])[a]
	}
	g.give(0, g.spread(g.scale("dx", dy, 1/float64(count))))
}

// spread broadcasts the gradient of a reduction to the shape that was reduced.
func (g *gradient) spread(dy Value) Value {
	return g.op(BroadcastTo, "dx", Attrs{}.With("shape", g.shape(g.node.In[0])), g.withAxes("dx", dy))
}

// withAxes returns the result of a reduction, or its gradient, with the reduced axes as
// axes of length 1.
func (g *gradient) withAxes(suffix string, v Value) Value {
	if g.node.Bool("keep") {
		return v
	}
	s := slices.Clone(g.shape(g.node.In[0]))
	for _, a := range g.node.Ints("axes") {
		s[a] = 1
	}
	return g.op(Reshape, suffix, Attrs{}.With("shape", s), v)
}

func gradBroadcastTo(g *gradient, dy Value) { g.give(0, g.fit("dx", dy, 0)) }
