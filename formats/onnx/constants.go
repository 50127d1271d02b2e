package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// A weight is an initializer, the value of a Constant node, or the result of nodes that fill, convert,
// transpose or dequantise such values. The tensors of the file are its initializers, its Constants of
// floats with at least one axis, and computed floats that a layer reads. All other constants are
// settings of operators: single numbers, and integers that are not initializers.

// constants computes all values that do not depend on the input, and lists the ones that
// are tensors of the file.
func (r *reader) constants(d *decode.Decoder, ext *decode.External, floatQDQ bool) error {
	listed := map[string]bool{}
	for _, t := range r.file.Tensors {
		listed[t.Name] = true
	}
	r.decoder, r.external = d, ext
	for i, n := range r.src.Node {
		if decode.Operator(n) != "Constant" {
			continue
		}
		if err := r.readConstant(n, d, ext, listed); err != nil {
			return fmt.Errorf("node %d (Constant %.80q): %w", i, decode.First(n.Output, ""), err)
		}
	}
	examination{r}.examineScales()
	if !floatQDQ {
		if err := r.useBytes(); err != nil {
			return err
		}
	}
	need := r.reached()
	r.done = make([]bool, len(r.src.Node))
	for i, n := range r.src.Node {
		if len(n.Output) == 1 {
			_, r.done[i] = r.values[n.Output[0]]
		}
		if r.done[i] || decode.Operator(n) == "Constant" || !need[i] {
			continue
		}
		done, err := r.compute(i)
		if err == nil && !done {
			err = r.listWeights(n.Input, listed)
		}
		if err != nil {
			return err
		}
	}
	r.norms(need)
	r.markNonWeights()
	if err := r.bodyTensors(r.src.Node, listed); err != nil {
		return err
	}
	size := int64(0)
	for _, t := range r.file.Tensors {
		size += int64(t.Size())
	}
	return foreign.CheckTensors(r.file.Tensors, size)
}

// reached marks the nodes that an output depends on.
func (r *reader) reached() []bool {
	wanted := map[string]bool{}
	for _, o := range r.src.Output {
		wanted[o.Name] = true
	}
	need := make([]bool, len(r.src.Node))
	for i, n := range slices.Backward(r.src.Node) {
		need[i] = slices.ContainsFunc(n.Output, func(name string) bool { return name != "" && wanted[name] })
		if need[i] {
			decode.EachInput(n, func(name string) { wanted[name] = true })
		}
	}
	return need
}

// readConstant stores the value of a Constant, and lists it if it is a tensor. A Constant
// of text has no value.
func (r *reader) readConstant(n *onnxpb.NodeProto, d *decode.Decoder, ext *decode.External,
	listed map[string]bool) error {
	if len(n.Output) != 1 {
		return fmt.Errorf("%d results, want 1", len(n.Output))
	}
	t, ok, err := d.Constant(n, ext)
	if err != nil || !ok {
		return err
	}
	if err := r.define(t.Name, node.InFile(&t)); err != nil {
		return err
	}
	if isWeight(&t) {
		listed[t.Name] = true
		r.file.Tensors = append(r.file.Tensors, t)
	}
	return nil
}

// isWeight reports whether a constant that is not an initializer is a tensor of the file.
func isWeight(t *foreign.Tensor) bool {
	return element.IsFloat(t.DType) && len(t.Shape) > 0 && tensor.Count(t.Shape) > 0
}

// compute computes node i if all its operands are constants, and reports whether it did. If a
// node cannot be computed, the reason is reported when the model is built. The error only
// reports missing memory.
func (r *reader) compute(i int) (computed bool, err error) {
	n := r.src.Node[i]
	if table[decode.Operator(n)].fold == nil {
		return false, nil
	}
	for _, name := range n.Input {
		if x, ok := r.values[name]; name != "" && (!ok || !x.IsConstant()) {
			return false, nil
		}
	}
	switch {
	case n.OpType == "Identity" && len(n.Input) == 1 && len(n.Output) == 1: // its elements stay in the file
		computed = r.define(n.Output[0], r.values[n.Input[0]]) == nil
		r.keepIdentity(n.Input[0], n.Output[0])
	case n.OpType == "ConstantOfShape":
		computed, err = r.fill(n)
	}
	if err == nil && !computed {
		computed = r.node(n) == nil
	}
	r.done[i] = computed
	return computed, err
}

// listWeights lists the constants of floats among the operands of a layer.
func (r *reader) listWeights(names []string, listed map[string]bool) error {
	for _, name := range names {
		x, ok := r.values[name]
		if r.initial[name] {
			listed[name] = true
		}
		if !ok || listed[name] || !x.IsConstant() {
			continue
		}
		t := x.File
		if t == nil { // it was computed and counted before
			inMemory := foreign.InMemory(name, x.Tensor)
			t = &inMemory
		}
		if !isWeight(t) {
			continue
		}
		if x.File != nil && !r.filled[name] {
			r.shared.FoldBudget -= t.Size()
		}
		if r.shared.FoldBudget < 0 {
			return fmt.Errorf("tensor %.80q: %w", name, r.shared.OverBudget())
		}
		listed[name], r.computed[name] = true, true
		r.file.Tensors = append(r.file.Tensors, t.Renamed(name))
	}
	return nil
}
