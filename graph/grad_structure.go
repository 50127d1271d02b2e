package graph

import "slices"

func gradConcat(g *gradient, dy Value) {
	axis := g.node.Int("axis")
	begin, end := make([]int, len(g.shape(dy))), slices.Clone(g.shape(dy))
	for i, v := range g.node.In {
		end[axis] = begin[axis] + g.shape(v)[axis]
		if g.needs(i) {
			g.give(i, g.op(Slice, "dx", Attrs{}.With("begin", begin).With("end", end), dy))
		}
		begin[axis] = end[axis]
	}
}

func gradSlice(g *gradient, dy Value) {
	g.giveTerm(0, term{dy, g.forward.Values[g.node.Out[0]].Name, g.node})
}

// gradTake adds a Take with the inverse index if the node reorders all elements, and a TakeGrad
// otherwise.
func gradTake(g *gradient, dy Value) {
	axis, index := g.node.Int("axis"), g.node.Ints("index")
	back := slices.Repeat([]int{-1}, g.shape(g.node.In[0])[axis])
	for i, from := range index {
		back[from] = i
	}
	if len(index) == len(back) && !slices.Contains(back, -1) {
		g.give(0, g.op(Take, "dx", g.node.Attrs.With("index", back), dy))
		return
	}
	g.give(0, g.op(TakeGrad, "dx", g.node.Attrs.With("size", g.shape(g.node.In[0])), dy))
}

func gradPad(g *gradient, dy Value) {
	begin := g.node.Ints("before")
	end := slices.Clone(g.shape(g.node.In[0]))
	for i := range end {
		end[i] += begin[i]
	}
	g.give(0, g.op(Slice, "dx", Attrs{}.With("begin", begin).With("end", end), dy))
}

func gradReshape(g *gradient, dy Value) {
	g.give(0, g.op(Reshape, "dx", Attrs{}.With("shape", g.shape(g.node.In[0])), dy))
}

func gradTranspose(g *gradient, dy Value) {
	perm := g.node.Ints("perm")
	inverse := make([]int, len(perm))
	for i, p := range perm {
		inverse[p] = i
	}
	g.give(0, g.op(Transpose, "dx", Attrs{}.With("perm", inverse), dy))
}

func gradUpsample(g *gradient, dy Value) {
	attrs := Attrs{}.With("from", g.shape(g.node.In[0])[1:]).With("mode", g.node.Text("mode")).
		With("align_corners", g.node.Bool("align_corners"))
	g.give(0, g.op(UpsampleGrad, "dx", attrs, dy))
}

func gradDropout(g *gradient, dy Value) {
	if len(g.node.In) < 2 {
		g.fail("it has no sample numbers to draw from; training gives them as operand 1")
		return
	}
	g.give(0, g.op(Dropout, "dx", g.node.Attrs, dy, g.node.In[1]))
}

// gradSoftmaxXent adds the gradient of the logits; dy is 1/denominator, see Gradient.
func gradSoftmaxXent(g *gradient, dy Value) {
	if g.needs(2) {
		g.fail("it has no derivative with respect to the weights of the samples")
		return
	}
	operands := []Value{g.node.In[0], g.node.In[1], dy}
	if len(g.node.In) > 2 {
		operands = append(operands, g.node.In[2])
	}
	g.give(0, g.op(SoftmaxXentGrad, "dx", g.node.Attrs, operands...))
}
