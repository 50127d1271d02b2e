package cpu

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// filter is what a convolution or a dense product multiplies with and adds: a
// weight and a bias as they are, or with the batch norm that follows folded
// into them, per output channel:
//
//	weight * s and beta + (bias - mean) * s with s = gamma / sqrt(variance + eps)
//
// each of them computed in float64 and rounded once.
type filter struct {
	weight, bias *value // bias is nil without one
	norm         *foldedNorm

	by      []float64 // s of every output channel; nil without a norm
	add     []float32 // what is added, per output channel; empty if nothing
	changed func() bool
}

// foldedNorm is the operands of a batch norm, all of them state.
type foldedNorm struct {
	gamma, beta, mean, variance *value
	eps                         float64
}

// plain returns the filter that is a weight alone.
func plain(weight *value) *filter { return &filter{weight: weight, changed: changes(weight)} }

// filterOf returns the filter of the current node: operands 1 and 2, and 3 to 6
// where a batch norm was made part of it.
func (c *compiler) filterOf() *filter {
	t := &filter{weight: c.in(1), bias: c.in(2)}
	if j := c.fn.joined[c.node.Out[0]]; j.norm {
		t.norm = &foldedNorm{c.in(3), c.in(4), c.in(5), c.in(6), j.eps}
		t.by, t.add = make([]float64, t.norm.gamma.count), make([]float32, t.norm.gamma.count)
	}
	t.changed = changes(t.operands()...)
	return t
}

// operands returns the values that the filter is made of.
func (t *filter) operands() []*value {
	all := []*value{t.weight}
	if t.bias != nil {
		all = append(all, t.bias)
	}
	if n := t.norm; n != nil {
		all = append(all, n.gamma, n.beta, n.mean, n.variance)
	}
	return all
}

// key tells the factors of one weight apart.
func (t *filter) key() string {
	if t.norm == nil {
		return ""
	}
	return fmt.Sprintf(" with @%s @%s %v", t.norm.gamma.name, t.norm.variance.name, t.norm.eps)
}

// stamp returns a number that grows whenever the products' factors change: the
// weight, and what it is multiplied with. It is 0 if the weight is computed.
func (t *filter) stamp() uint64 {
	if t.weight.state == nil {
		return 0
	}
	stamp := t.weight.state.stamp
	if t.norm != nil {
		stamp += t.norm.gamma.state.stamp + t.norm.variance.state.stamp
	}
	return stamp
}

// factor returns what becomes of the weights when they are packed.
func (t *filter) factor(f *frame) kernel.Factor {
	if f.reduced {
		return kernel.Factor{Round: f.kernels, By: t.by}
	}
	return kernel.Factor{By: t.by}
}

// prepare computes by and add unless nothing has changed, and reports whether
// something has.
func (t *filter) prepare(f *frame) bool {
	switch {
	case !t.changed():
		return false
	case t.norm != nil:
		t.fold(f)
	case t.bias != nil:
		t.add = append(t.add[:0], f.f32(t.bias)...)
	}
	return true
}

// fold computes by and add from the norm.
func (t *filter) fold(f *frame) {
	n := t.norm
	beta, mean, variance := f.f32(n.beta), f.f32(n.mean), f.f32(n.variance)
	for o, g := range f.f32(n.gamma) {
		shift := -float64(mean[o])
		if t.bias != nil {
			shift += float64(f.f32(t.bias)[o])
		}
		t.by[o] = float64(g) / math.Sqrt(float64(variance[o])+n.eps)
		t.add[o] = float32(float64(beta[o]) + float64(shift*t.by[o]))
	}
}
