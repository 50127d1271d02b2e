package plan

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// At precision device.BF16 rows of float32 of rank 2 and more hold bfloat16 values. The
// compiler adds the rounding after the actions that make them, span by span, while they are
// in the cache. Kernel.Pairs rounds its results itself. The Linker decides later which of
// these values are stored with two bytes (run/halve.go).

// rounded returns the action of the node, which also rounds its results. For an action by rows, the linker
// adds the rounding later, when it is known which results are halves.
func (c *Compiler) rounded(a run.Action) run.Action {
	if a == nil { // the node was refused, or another node's action computes it
		return nil
	}
	s := a.Stores()
	if s.Rounds || c.selects() {
		return a
	}
	var results []*run.Value
	for i := range c.Node().Out {
		if v := c.Out(i); c.linker.BF16(v) {
			results = append(results, v)
		}
	}
	s.Unrounded(results)
	once, ok := a.(*run.AtOnce)
	if !ok || len(results) == 0 {
		return a
	}
	do, kernels := once.Do, c.Kernels()
	once.Do = func(f *run.Frame) error {
		if err := do(f); err != nil {
			return err
		}
		for _, v := range results {
			if v.IsHalf() {
				continue // the action has already stored it as bfloat16
			}
			x := f.F32(v)
			f.EachSpan(len(x), func(_ *run.Worker, from, to int) { kernels.RoundBF16(x[from:to]) })
		}
		return nil
	}
	return a
}

// selecting are operations that only select values. Their results are values of their operands, 0, or a
// bound that bfloat16 represents.
var selecting = []graph.Op{graph.Relu, graph.Relu6, graph.MaxPool, graph.Concat, graph.Slice, graph.SliceGrad,
	graph.Reshape, graph.Transpose, graph.Take, graph.BroadcastTo}

// selects reports whether the results of the node are bfloat16 because its operands
// are.
func (c *Compiler) selects() bool {
	if !slices.Contains(selecting, c.Node().Op) {
		return false
	}
	for i := range c.Node().In {
		if !c.linker.BF16(c.In(i)) {
			return false
		}
	}
	return true
}

// Operand returns an operand of a product as bfloat16. If it is not stored so, Operand
// returns a rounded copy and the function that makes the copy.
func (c *Compiler) Operand(x *run.Value) (*run.Value, func(f *run.Frame)) {
	if !c.BF16() || c.linker.BF16(x) {
		return x, func(*run.Frame) {}
	}
	kernels, rounded := c.Kernels(), c.TempValue(x)
	return rounded, func(f *run.Frame) {
		from, to := f.F32(x), f.F32(rounded)
		f.EachSpan(len(to), func(_ *run.Worker, a, b int) {
			copy(to[a:b], from[a:b])
			kernels.RoundBF16(to[a:b])
		})
	}
}
