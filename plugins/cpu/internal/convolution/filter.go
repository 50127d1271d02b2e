package convolution

import (
	"fmt"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Folding a batch norm changes the bits of the weights, and is part of the definition of the kernel
// class (class.Fold). It happens in every run at the same point, whatever else is fused.

// filter has the factors and the summands of a convolution or a dense product, per output channel. They are
// its weight and bias. If a batch norm follows and is folded into them, they are
//
//	weight * s and beta + (bias - mean) * s with s = gamma / sqrt(variance + eps)
//
// Each of them is computed in float64 and rounded once.
type filter struct {
	weight, bias *run.Value // bias is nil if there is none
	norm         *foldedNorm

	factors []float64 // factor s of every output channel; nil without a batch norm
	add     []float32 // number that is added to every output channel; may be empty
	changed func() bool
}

// foldedNorm has the operands of a batch norm. All of them are state.
type foldedNorm struct {
	class.Norm
	gamma, beta, mean, variance *run.Value
}

// plain returns a filter with a weight, but without bias and batch norm.
func plain(weight *run.Value) *filter { return &filter{weight: weight, changed: run.Changes(weight)} }

// filterOf returns the filter of the current node: operands 1 and 2, with operands 3 to 6 if a batch
// norm is folded into it.
func filterOf(c *plan.Compiler) *filter {
	t := &filter{weight: c.In(1), bias: c.In(2)}
	if norm := c.FoldedNorm(); norm != nil {
		t.norm = &foldedNorm{*norm, c.In(3), c.In(4), c.In(5), c.In(6)}
		t.factors, t.add = make([]float64, t.norm.gamma.Count), make([]float32, t.norm.gamma.Count)
	}
	t.changed = run.Changes(t.operands()...)
	return t
}

// operands returns the values that the filter is computed from.
func (t *filter) operands() []*run.Value {
	all := []*run.Value{t.weight}
	if t.bias != nil {
		all = append(all, t.bias)
	}
	if n := t.norm; n != nil {
		all = append(all, n.gamma, n.beta, n.mean, n.variance)
	}
	return all
}

// key returns a text that identifies the factors by which the weights are multiplied.
func (t *filter) key() string {
	if t.norm == nil {
		return ""
	}
	return fmt.Sprintf(" with @%s @%s %v", t.norm.gamma.Name, t.norm.variance.Name, t.norm.Eps)
}

// stamp returns a number that grows whenever the factors of the products change: the weight, or the factors
// of a folded batch norm. It is 0 if the weight is not state but computed in every run.
func (t *filter) stamp() uint64 {
	if t.weight.State() == nil {
		return 0
	}
	stamp := t.weight.State().Stamp()
	if t.norm != nil {
		stamp += t.norm.gamma.State().Stamp() + t.norm.variance.State().Stamp()
	}
	return stamp
}

// factor returns the factor by which the weights are multiplied when they are packed.
func (t *filter) factor(f *run.Frame) kernel.Factor {
	if f.BF16() {
		return kernel.Factor{Round: f.Kernels, By: t.factors}
	}
	return kernel.Factor{By: t.factors}
}

// prepare computes the fields by and add if an operand has changed, and reports whether it did.
func (t *filter) prepare(f *run.Frame) bool {
	switch {
	case !t.changed():
		return false
	case t.norm != nil:
		t.fold(f)
	case t.bias != nil:
		t.add = append(t.add[:0], f.F32(t.bias)...)
	}
	return true
}

// fold computes the fields by and add from the operands of the batch norm.
func (t *filter) fold(f *run.Frame) {
	n := t.norm
	beta, mean, variance := f.F32(n.beta), f.F32(n.mean), f.F32(n.variance)
	for o, g := range f.F32(n.gamma) {
		shift := -float64(mean[o])
		if t.bias != nil {
			shift += float64(f.F32(t.bias)[o])
		}
		t.factors[o] = n.By(g, variance[o])
		t.add[o] = n.Add(beta[o], shift, t.factors[o])
	}
}
