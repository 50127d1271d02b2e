package graph

import "slices"

func gradConv(g *gradient, dy Value) {
	x, w, attrs := g.node.In[0], g.node.In[1], g.node.Attrs
	if g.needs(0) {
		g.give(0, g.op(ConvGradInput, "dx", attrs.With("size", g.shape(x)[1:]), dy, w))
	}
	if g.needs(1) {
		g.give(1, g.op(ConvGradWeight, "dw", attrs.With("kernel", g.shape(w)[2:]), x, dy))
	}
	g.bias(dy)
}

func (g *gradient) bias(dy Value) {
	if g.needs(2) {
		g.give(2, g.op(ChannelSum, "db", nil, dy))
	}
}

// gradConvTranspose uses that a transposed convolution is the input gradient of the
// convolution with the same kernel, input y and result x.
func gradConvTranspose(g *gradient, dy Value) {
	g.bias(dy)
	x, w := g.node.In[0], g.node.In[1]
	attrs := slices.DeleteFunc(slices.Clone(g.node.Attrs), func(a Attr) bool { return a.Key == "output_pad" })
	dy = g.reached(dy)
	if g.needs(0) {
		g.give(0, g.op(Conv, "dx", attrs, dy, w))
	}
	if g.needs(1) {
		g.give(1, g.op(ConvGradWeight, "dw", attrs.With("kernel", g.shape(w)[2:]), dy, x))
	}
}

// reached removes from the gradient of a transposed convolution the rows and columns that output_pad adds
// beyond the last window. If they are fewer than a stride they can stay, because no window starts there.
func (g *gradient) reached(dy Value) Value {
	end := slices.Clone(g.shape(dy))
	stride := g.node.Ints("stride")
	cut := false
	for i, extra := range g.node.Ints("output_pad") {
		if extra >= stride[i] {
			end[1+i] -= extra
			cut = true
		}
	}
	if !cut {
		return dy
	}
	return g.op(Slice, "dy.cut", Attrs{}.With("begin", []int{0, 0, 0}).With("end", end), dy)
}

func gradDense(g *gradient, dy Value) {
	attrs := g.node.Attrs
	if g.needs(0) {
		g.give(0, g.op(DenseGradInput, "dx", attrs, dy, g.node.In[1]))
	}
	if g.needs(1) {
		g.give(1, g.op(DenseGradWeight, "dw", attrs, g.node.In[0], dy))
	}
	if axes := len(g.shape(dy)); axes > 1 && g.needs(2) { // move the channels to the first axis
		perm := []int{axes - 1}
		for i := range axes - 1 {
			perm = append(perm, i)
		}
		dy = g.op(Transpose, "dy.channels", Attrs{}.With("perm", perm), dy)
	}
	g.bias(dy)
}

func gradMaxPool(g *gradient, dy Value) {
	g.give(0, g.op(MaxPoolGrad, "dx", g.node.Attrs, g.node.In[0], dy))
}

func gradAvgPool(g *gradient, dy Value) {
	g.give(0, g.op(AvgPoolGrad, "dx", g.node.Attrs.With("size", g.shape(g.node.In[0])[1:]), dy))
}

func gradGlobalAvgPool(g *gradient, dy Value) {
	g.give(0, g.op(GlobalAvgPoolGrad, "dx", Attrs{}.With("size", g.shape(g.node.In[0])[1:]), dy))
}
