package graph

// Gated returns what the product of x and gate, the node that makes its other operand, is as one
// operation: Silu of sigmoid(x), HardSwish of hard_sigmoid(x) with alpha = 1/6 and beta = 1/2. 0
// stands for none. Both operations are defined as these products.
func Gated(x Value, gate *Node) Op {
	switch {
	case gate == nil || gate.In[0] != x:
	case gate.Op == Sigmoid:
		return Silu
	case gate.Op == HardSigmoid && float32(gate.Float("alpha")) == 1./6 && gate.Float("beta") == 0.5:
		return HardSwish
	}
	return 0
}

// JoinGates returns f with products of a value and its gate as one operation where nothing
// else reads the gate: one node instead of two, and one in its gradient instead of five. state is the
// table of f.
func JoinGates(f *Function, state []State) (*Function, error) {
	makers, users := f.Makers(), f.Users()
	for _, v := range f.results() {
		users[v] = append(users[v], len(f.Nodes))
	}
	joined := false
	g, err := f.rewrite(&state, func(r *rewriter) {
		for i := range r.node.In {
			if r.node.Op != Mul {
				break
			}
			gate := r.node.In[1-i]
			if op := Gated(r.node.In[i], makers[gate]); op != 0 && len(users[gate]) == 1 {
				r.last(op, []Value{r.in(i)})
				joined = true
				return
			}
		}
		r.Copy(r.node)
	})
	if err != nil || !joined {
		return f, err
	}
	return Prune(g, state)
}
