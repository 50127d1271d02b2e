package graph

import "slices"

// A row norm is normed, (x-mean)*s, times scale, plus bias. Its gradient recomputes normed
// if the gradient of scale is needed, so that one map less is kept until then.

func gradLayerNorm(g *gradient, dy Value) {
	axes := g.node.Ints("axes")
	g.rowNorm(dy, LayerNormGrad, axes[0], axes[0]+len(axes))
}

func gradGroupNorm(g *gradient, dy Value) { g.rowNorm(dy, GroupNormGrad, 0, 1) }

// rowNorm adds the gradients of a node with scale and bias of the lengths of the axes
// [first, end).
func (g *gradient) rowNorm(dy Value, input Op, first, end int) {
	n := g.node
	x := n.In[0]
	if g.needs(1) {
		normed := g.op(n.Op, "normed", n.Attrs, x)
		g.give(1, g.ofAxes("dscale", g.op(Mul, "dscale", nil, dy, normed), first, end))
	}
	if g.needs(2) {
		g.give(2, g.ofAxes("dbias", dy, first, end))
	}
	if g.needs(0) {
		if len(n.In) > 1 && n.In[1] != None {
			scale := g.along(n.In[1], len(g.shape(x))-end)
			dy = g.op(Mul, "dnormed", nil, dy, scale)
		}
		g.give(0, g.op(input, "dx", n.Attrs, x, dy))
	}
}

// along appends axes of length 1 to v.
func (g *gradient) along(v Value, count int) Value {
	if count == 0 {
		return v
	}
	shape := slices.Concat(g.shape(v), slices.Repeat([]int{1}, count))
	return g.op(Reshape, "scale.all", Attrs{}.With("shape", shape), v)
}

// ofAxes sums d over the rows and all axes except [first, end).
func (g *gradient) ofAxes(suffix string, d Value, first, end int) Value {
	shape := g.shape(d)
	if first == 0 && end == 1 {
		return g.op(ChannelSum, suffix, nil, d)
	}
	var axes []int
	for a := range shape {
		if a < first || a >= end {
			axes = append(axes, a)
		}
	}
	if len(axes) > 0 {
		d = g.op(ReduceSum, suffix, Attrs{}.With("axes", axes), d)
	}
	return g.op(SumRows, suffix, nil, d)
}
