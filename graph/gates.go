package graph

// Gated returns the single operation that equals the product of x and gate, the node of its
// other operand: Silu for sigmoid(x), HardSwish for hard_sigmoid(x) with alpha = 1/6 and
// beta = 1/2. It returns 0 if there is no such operation. Both operations are defined as
// these products.
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
