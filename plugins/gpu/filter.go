package gpu

import "github.com/bnctl/bnctl/graph"

// filter is the weight and bias of a product. If a batch norm follows and is folded into them, they are
// changed.
type filter struct {
	weight any // a *value or a *slot
	bias   any
	biased int
	of     []*value // values from which weight and bias are computed
}

// weightOnly returns a filter without a bias.
func weightOnly(weight *value) filter {
	return filter{weight: weight, bias: weight, of: []*value{weight}}
}

// channelIndex maps weight e to its output channel: e/divisor%modulus +
// e/groupDivisor*groupStride.
type channelIndex struct{ divisor, modulus, groupDivisor, groupStride int }

// filter returns the filter of the current node: operands 1 and 2, with operands 3 to 6 if a batch norm
// is folded into the node.
func (c *compiler) filter(s channelIndex) filter {
	weight, bias := c.in(1), c.in(2)
	t := weightOnly(weight)
	if bias != nil {
		t.bias, t.biased, t.of = bias, 1, append(t.of, bias)
	}
	norm, folded := c.folded[c.node.Out[0]]
	if !folded {
		return t
	}
	gamma, beta, mean, variance := c.in(3), c.in(4), c.in(5), c.in(6)
	w, add := c.private(weight.size()), c.private(gamma.size())
	biased := t.biased
	given := t.bias
	t.of = append(t.of, gamma, beta, mean, variance)
	c.launchOnChange(t.of, func() {
		c.launch("fold", graph.Whole, weight.count, weight, gamma, variance, w, weight.count, norm.Eps, s.divisor,
			s.modulus, s.groupDivisor, s.groupStride)
		c.launch("fold_bias", graph.Whole, gamma.count, given, gamma, beta, mean, variance, add, gamma.count,
			norm.Eps, biased)
	})
	t.weight, t.bias, t.biased = w, add, 1
	return t
}
