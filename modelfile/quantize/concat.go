package quantize

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// A concatenation has one scale, and an operand of a much smaller range would keep few of its
// steps. Where only convolutions and dense layers read the result, its channels are divided by a
// factor for each operand, as equalise divides the channels of a layer's result. The operand then
// fills the scale, and the weights that read it absorb the factor.

// unlike is a fraction of a concatenation's range. An operand with a smaller range gets a
// factor, because it would lose two bits.
const unlike = 0.25

// fewSteps is the number of steps below which an operand is reported.
const fewSteps = 16

// concat brings all operands to the scale of the result, and stores them one after the other. It
// leaves operands with much smaller ranges than the result in float32, if nothing reads the result
// as bytes: an output of scores and boxes, for example.
func (b *builder) concat(n *graph.Node) (took bool, err error) {
	s, err := b.scale(n.Out[0])
	if err != nil {
		return false, err
	}
	fractions := b.fractions(n, s)
	divisors := b.concatDivisors(n, fractions)
	if divisors == nil {
		b.warnOfSteps(n, fractions)
		if slices.Min(fractions) < unlike && !b.becomesBytes(n.Out[0]) {
			return false, nil
		}
		fractions = slices.Repeat([]float64{1}, len(fractions))
	}
	var in []graph.Value
	for i, v := range n.In {
		x := b.bytes[v]
		if x.scale != s || fractions[i] != 1 {
			name := fmt.Sprintf("%s.%d", b.From.Values[n.Out[0]].Name, i)
			x = b.lookup(name, x, s, func(x float64) float64 { return x / fractions[i] })
		}
		in = append(in, x.value)
	}
	b.store(graph.ConcatInt8, n.Out[0], s, in, n.Attrs)
	b.setDivisors(n.Out[0], divisors)
	return true, b.Builder.Err()
}

// becomesBytes reports whether a layer or an operation of several feature maps reads v as bytes,
// directly or through nodes that only move, bound or average numbers.
func (b *builder) becomesBytes(v graph.Value) bool {
	return slices.ContainsFunc(b.users[v], func(i int) bool {
		n := &b.From.Nodes[i]
		if b.remains(b.From.NodeName(n)) {
			return false
		}
		switch n.Op {
		case graph.Add, graph.Mul, graph.Concat:
			return true
		case graph.AvgPool, graph.GlobalAvgPool, graph.ReduceMean:
			return b.becomesBytes(n.Out[0])
		}
		if onlyMoves(n.Op) || activationOf(n) != nil {
			return b.becomesBytes(n.Out[0])
		}
		return b.takesProduct(n)
	})
}

// warnOfSteps reports the operands that keep few steps, unless all nodes that read the result stay
// float32.
func (b *builder) warnOfSteps(n *graph.Node, fractions []float64) {
	y := n.Out[0]
	reads := func(i int) bool { return !b.remains(b.From.NodeName(&b.From.Nodes[i])) }
	if !slices.ContainsFunc(b.users[y], reads) {
		return
	}
	for i, v := range n.In {
		if left := fractions[i] * steps; left < fewSteps {
			b.warn(n, fmt.Sprintf("operand %s keeps %.1f of %d steps: the range of %s is %.3g times as wide",
				b.From.Values[v].Name, left, steps, b.From.Values[y].Name, 1/fractions[i]))
		}
	}
}

// fractions returns the part of the range of s that the range of each operand fills.
func (b *builder) fractions(n *graph.Node, s scale) []float64 {
	list := make([]float64, len(n.In))
	for i, v := range n.In {
		x := b.bytes[v].scale
		for _, q := range []int{0, steps} {
			if end := s.number(q); end != 0 {
				list[i] = max(list[i], x.number(q)/end)
			}
		}
		if list[i] == 0 { // beyond the other end of s
			list[i] = 1
		}
	}
	return list
}

// concatDivisors returns the divisor of each channel of a concatenation. It returns nil,
// which means 1 for all, if the operands are alike, if something other than a convolution
// or dense layer reads them, or in a plain builder.
func (b *builder) concatDivisors(n *graph.Node, fractions []float64) []float64 {
	if b.plain || slices.Min(fractions) >= unlike || n.Int("axis") != 0 || !b.onlyProductsRead(n.Out[0]) {
		return nil
	}
	var divisors []float64
	for i, v := range n.In {
		divisors = append(divisors, slices.Repeat(fractions[i:i+1], b.From.Values[v].Type.Shape[0])...)
	}
	return divisors
}

// onlyProductsRead reports whether v is read only by convolutions and dense layers on
// bytes, directly or through relus and max pools. The weights of these layers can absorb
// divisors of channels.
func (b *builder) onlyProductsRead(v graph.Value) bool {
	isOutput := slices.ContainsFunc(b.From.Outputs, func(o graph.Output) bool { return o.Value == v })
	return !isOutput && !slices.ContainsFunc(b.users[v], func(i int) bool {
		n := &b.From.Nodes[i]
		switch {
		case b.remains(b.From.NodeName(n)):
			return true
		case n.Op == graph.MaxPool, n.Op == graph.Relu && b.hasRange(n):
			return !b.onlyProductsRead(n.Out[0])
		}
		return !b.takesProduct(n) || n.In[0] != v
	})
}

// setDivisors sets the divisors of the channels of v.
func (b *builder) setDivisors(v graph.Value, divisors []float64) {
	q := b.bytes[v]
	q.divisors = divisors
	b.bytes[v] = q
}
