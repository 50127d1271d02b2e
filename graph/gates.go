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
