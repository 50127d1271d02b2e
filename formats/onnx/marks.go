package onnx

import (
	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// markNonWeights marks tensors of the file other than weights: computed tensors, settings
// of operators, and scales of quantised weights.
func (r *reader) markNonWeights() {
	r.file.Marks = map[string]foreign.Mark{}
	taken, quantised, set := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range r.src.Node {
		if quantiseMarks(n, func(name string) { quantised[name] = true },
			func(name string) { r.file.Marks[name] = foreign.NextToWeights }) {
			continue
		}
		for i, name := range n.Input {
			switch {
			case i > 0 && table[n.OpType].traits.has(hasSettings):
				set[name] = true
			default:
				taken[name] = true
			}
		}
	}
	for _, t := range r.file.Tensors {
		integer := t.DType == tensor.I64 || t.DType == tensor.I32 || t.DType == tensor.Bool
		switch {
		case r.computed[t.Name]:
			r.file.Marks[t.Name] = foreign.Computed
		case r.file.Marks[t.Name] != 0 || quantised[t.Name]:
		case integer || set[t.Name] && !taken[t.Name]:
			r.file.Marks[t.Name] = foreign.Setting
		}
	}
	for _, l := range r.file.Norms {
		for _, name := range []string{l.Gamma, l.Beta, l.Mean, l.Variance} {
			if r.file.Marks[name] != 0 {
				r.file.Marks[name] = foreign.NextToWeights
			}
		}
	}
}
