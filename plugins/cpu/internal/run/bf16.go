package run

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// At precision device.BF16 rows of float32 of rank 2 and more hold values that
// are bfloat16: the compiler adds the rounding behind the actions that make them,
// span by span, while they are in the cache. Kernel.Pairs rounds for itself. Where
// such values lie as bfloat16 of two bytes is said in package plan, half.go.

// bf16 reports whether v holds bfloat16.
func (c *Compiler) BF16(v *Value) bool { return c.Reduced && device.StoredBF16(v.Type) }

// Rounded returns the action of the current node with its results rounded; one
// by rows gets that when it is known which of them are halves.
func (c *Compiler) Rounded(a Action) Action {
	if a == nil { // it is refused, or another node's action does its work
		return nil
	}
	s := a.Stores()
	if s.Rounds || c.selects() {
		return a
	}
	for _, id := range c.Node.Out {
		if v := c.Fn.Known[id]; c.BF16(v) {
			s.Unrounded = append(s.Unrounded, v)
		}
	}
	once, ok := a.(*AtOnce)
	if !ok || len(s.Unrounded) == 0 {
		return a
	}
	do, kernels := once.Do, c.Kernels
	once.Do = func(f *Frame) error {
		if err := do(f); err != nil {
			return err
		}
		for _, v := range s.Unrounded {
			if v.Half {
				continue // the action has narrowed it
			}
			x := f.F32(v)
			f.EachSpan(len(x), func(_ *Worker, from, to int) { kernels.RoundBF16(x[from:to]) })
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
func (c *Compiler) selects() bool {
	if !slices.Contains(selecting, c.Node.Op) {
		return false
	}
	for i := range c.Node.In {
		if !c.BF16(c.In(i)) {
			return false
		}
	}
	return true
}

// Operand returns an operand of a product as one of bfloat16: a rounded copy of
// one that is not stored so, and what makes it.
func (c *Compiler) Operand(x *Value) (*Value, func(f *Frame)) {
	if !c.Reduced || c.BF16(x) {
		return x, func(*Frame) {}
	}
	kernels, rounded := c.Kernels, *x
	rounded.Slot, rounded.State, rounded.Input, rounded.Local = c.Temp(0, 0, x.Size()), nil, -1, false
	return &rounded, func(f *Frame) {
		from, to := f.F32(x), f.F32(&rounded)
		f.EachSpan(len(to), func(_ *Worker, a, b int) {
			copy(to[a:b], from[a:b])
			kernels.RoundBF16(to[a:b])
		})
	}
}
