package cpu

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// At precision device.BF16 rows of float32 of rank 2 and more hold values that
// are bfloat16: the compiler adds the rounding behind the actions that make them,
// span by span, while they are in the cache. Kernel.Pairs rounds for itself. Where
// such values lie as bfloat16 of two bytes is said in half.go.

// bf16 reports whether v holds bfloat16.
func (c *compiler) bf16(v *value) bool { return c.reduced && device.StoredBF16(v.Type) }

// rounded returns the action of the current node with its results rounded; one
// by rows gets that when it is known which of them are halves.
func (c *compiler) rounded(a action) action {
	if a.rounds || c.selects() {
		return a
	}
	for _, id := range c.node.Out {
		if v := c.fn.values[id]; c.bf16(v) {
			a.unrounded = append(a.unrounded, v)
		}
	}
	if a.once == nil || len(a.unrounded) == 0 {
		return a
	}
	once, kernels := a.once, c.kernels
	a.once = func(f *frame) error {
		if err := once(f); err != nil {
			return err
		}
		for _, v := range a.unrounded {
			if v.half {
				continue // the action has narrowed it
			}
			x := f.f32(v)
			f.eachSpan(len(x), func(_ *worker, from, to int) { kernels.RoundBF16(x[from:to]) })
		}
		return nil
	}
	return a
}

// selecting are the operations whose results are values of their operands, 0 or
// a bound that is a bfloat16.
var selecting = []graph.Op{graph.Relu, graph.Relu6, graph.MaxPool, graph.Concat, graph.Slice, graph.SliceGrad,
	graph.Reshape, graph.Transpose, graph.BroadcastTo}

// selects reports whether the results of the current node are bfloat16 because
// its operands are.
func (c *compiler) selects() bool {
	if !slices.Contains(selecting, c.node.Op) {
		return false
	}
	for i := range c.node.In {
		if !c.bf16(c.in(i)) {
			return false
		}
	}
	return true
}

// operand returns an operand of a product as one of bfloat16: a rounded copy of
// one that is not stored so, and what makes it.
func (c *compiler) operand(x *value) (*value, func(f *frame)) {
	if !c.reduced || c.bf16(x) {
		return x, func(*frame) {}
	}
	kernels, rounded := c.kernels, *x
	rounded.slot, rounded.state, rounded.input, rounded.local = c.temp(0, 0, x.size()), nil, -1, false
	return &rounded, func(f *frame) {
		from, to := f.f32(x), f.f32(&rounded)
		f.eachSpan(len(to), func(_ *worker, a, b int) {
			copy(to[a:b], from[a:b])
			kernels.RoundBF16(to[a:b])
		})
	}
}
