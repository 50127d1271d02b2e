package graph

import "slices"

// gradNormalise also differentiates the moments, which depend on x (docs/numerics.md, section 1), in closed
// form. Over the batch it needs the sums of all replicas.
func gradNormalise(g *gradient, dy Value) {
	n := g.node
	x, m, gamma := n.In[0], n.In[1], n.In[2]
	running := g.statistics()
	if running != nil {
		g.frozen(dy, m, gamma, running.In[1], 2)
		return
	}
	over := Attrs{}.With("over", n.Text("over"))
	sums := g.op(NormaliseGradSums, "sums", over, x, dy, m)
	if n.Text("over") == "batch" {
		sums = g.op(AllReduce, "sums.all", nil, sums)
	}
	if g.needs(0) {
		attrs := over.With("eps", n.Float("eps"))
		g.give(0, g.op(NormaliseGradInput, "dx", attrs, x, dy, m, sums, gamma))
	}
	g.scaleAndShift(m, sums, 2)
}

// statistics follows the moments of a normalise back to their origin. It returns the
// running_moments node if they are constant, and nil if they are the moments of the
// normalised operand. Any other origin is an error.
func (g *gradient) statistics() *Node {
	for v := g.node.In[1]; ; {
		i := g.maker[v]
		if i < 0 {
			g.fail("the moments %s are neither computed from the operand nor running", g.forward.Values[v].Name)
			return nil
		}
		switch n := &g.forward.Nodes[i]; {
		case n.Op == SelectMoments, n.Op == AllReduce && n.Text("of") == "moments":
			v = n.In[0]
		case n.Op == RunningMoments:
			return n
		case n.Op == Moments:
			if n.In[0] != g.node.In[0] {
				g.fail("the moments are those of %s, want those of the operand %s",
					g.forward.name(n.In[0]), g.forward.name(g.node.In[0]))
			}
			return nil
		default:
			g.fail("the moments come from %s", g.forward.title(i))
			return nil
		}
	}
}

// scaleAndShift gives the gradients of gamma, operand i, and beta, operand i+1.
func (g *gradient) scaleAndShift(m, sums Value, i int) {
	if !g.needs(i) && !g.needs(i+1) {
		return
	}
	name := g.forward.Values[g.node.Out[0]].Name
	names := []string{g.b.UniqueName(name + ".dgamma"), g.b.UniqueName(name + ".dbeta")}
	out := g.b.named(NormaliseGradParams, names, Attrs{}.With("eps", g.node.Float("eps")), m, sums)
	for j, v := range out {
		if g.needs(i + j) {
			g.give(i+j, v)
		}
	}
}

func gradBatchNorm(g *gradient, dy Value) {
	n := g.node
	m := None
	if g.needs(1) || g.needs(2) {
		m = g.op(RunningMoments, "moments", nil, n.In[3], n.In[4])
	}
	g.frozen(dy, m, n.In[1], n.In[4], 1)
}

// frozen adds the gradients of a norm with constant moments m. Operand i is gamma. Nothing
// is exchanged: dx = dy*gamma/sqrt(variance + eps).
func (g *gradient) frozen(dy, m, gamma, variance Value, i int) {
	x, eps := g.node.In[0], g.node.Float("eps")
	if g.needs(i) || g.needs(i+1) { // the sums come first, because a device may add them while it makes dy
		g.scaleAndShift(m, g.op(NormaliseGradSums, "sums", nil, x, dy, m), i)
	}
	if g.needs(0) {
		s := g.op(Affine, "scale.var", Attrs{}.With("add", eps), variance)
		s = g.op(Sqrt, "scale.std", nil, s)
		s = g.op(Div, "scale", nil, gamma, s)
		if rank := len(g.shape(x)); rank > 1 {
			shape := append(slices.Clone(g.shape(x)[:1]), slices.Repeat([]int{1}, rank-1)...)
			s = g.op(Reshape, "scale.all", Attrs{}.With("shape", shape), s)
		}
		g.give(0, g.op(Mul, "dx", nil, dy, s))
	}
}
