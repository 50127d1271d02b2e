package graph

// gradNone is the rule of operations that are constant except for jumps: no gradient flows.
func gradNone(*gradient, Value) {}

// gradExtreme gives the gradient to the operand that is the result, and half of it to each operand if
// both are equal, as PyTorch's maximum and minimum do.
func gradExtreme(g *gradient, dy Value) {
	of := "greater"
	if g.node.Op == Min {
		of = "less"
	}
	tie := g.op(Compare, "tie", Attrs{}.With("of", "equal"), g.node.In[0], g.node.In[1])
	half := g.op(Where, "half", nil, tie, g.scale("half", dy, 0.5))
	for i, suffix := range []string{"da", "db"} {
		if g.needs(i) {
			taken := g.op(Compare, suffix, Attrs{}.With("of", of), g.node.In[i], g.node.In[1-i])
			g.give(i, g.fit(suffix, g.op(Where, suffix, nil, taken, dy, half), i))
		}
	}
}

// gradPow computes the gradients as PyTorch's pow does: y*x^(y-1), which is 0 for an exponent of 0, and
// x^y*log(x), which is 0 where x is 0.
func gradPow(g *gradient, dy Value) {
	a, b, y := g.node.In[0], g.node.In[1], g.node.Out[0]
	if g.needs(0) {
		less := g.op(Affine, "da", Attrs{}.With("add", -1.0), b)
		slope := g.op(Mul, "da", nil, b, g.op(Pow, "da", nil, a, less))
		g.give(0, g.fit("da", g.op(Where, "da", nil, b, g.op(Mul, "da", nil, dy, slope)), 0))
	}
	if g.needs(1) {
		log := g.op(Where, "db", nil, a, g.op(Log, "db", nil, a))
		g.give(1, g.fit("db", g.op(Mul, "db", nil, g.op(Mul, "db", nil, dy, y), log), 1))
	}
}

func gradWhere(g *gradient, dy Value) {
	condition := g.node.In[0]
	if g.needs(1) {
		g.give(1, g.fit("dx", g.op(Where, "dx", nil, condition, dy), 1))
	}
	if g.needs(2) {
		no := g.op(Compare, "no", Attrs{}.With("of", "equal"), condition)
		g.give(2, g.fit("dy", g.op(Where, "dy", nil, no, dy), 2))
	}
}

// gradReduceExtreme divides the gradient among all elements that are the extreme, as
// PyTorch's amax and amin do.
func gradReduceExtreme(g *gradient, dy Value) {
	x, y := g.node.In[0], g.withAxes("kept", g.node.Out[0])
	extreme := g.op(Compare, "taken", Attrs{}.With("of", "equal"), x, y)
	count := g.op(ReduceSum, "count", Attrs{}.With("axes", g.node.Ints("axes")).With("keep", true), extreme)
	quotient := g.op(Div, "quotient", nil, g.withAxes("kept", dy), count)
	g.give(0, g.op(Where, "dx", nil, extreme, quotient))
}

// gradReduceProd computes dy times the product of all other elements. This is the product, with zeros
// replaced by ones, divided by the element, and 0 if another element is zero.
func gradReduceProd(g *gradient, dy Value) {
	x := g.node.In[0]
	over := Attrs{}.With("axes", g.node.Ints("axes")).With("keep", true)
	zero := g.op(Compare, "zero", Attrs{}.With("of", "equal"), x)
	zeros := g.op(ReduceSum, "zeros", over, zero)
	some := g.op(Add, "some", nil, x, zero)
	others := g.op(Div, "others", nil, g.op(ReduceProd, "product", over, some), some)
	alone := g.op(Compare, "alone", Attrs{}.With("of", "equal"), zeros, zero)
	g.give(0, g.op(Where, "dx", nil, alone, g.op(Mul, "dx", nil, g.withAxes("kept", dy), others)))
}
