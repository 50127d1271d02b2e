package main

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// sickness is what keeps a model from predicting properly, as doctor finds it.
type sickness struct {
	norms   []bn.Norm
	weights []string // names of weights that are not finite
	graph   []string // faults of the graph in the file
}

// sicknessOf looks at the batch norms and at all weights of a model.
func sicknessOf(m *models.Model) sickness {
	s := sickness{norms: formats.ModelNorms(m)}
	for _, p := range m.Graph.State {
		if p.Role.Trained() && p.Role != graph.Gamma { // gammas are looked at with the statistics
			s.weight(p.Name, m.State[p.Name])
		}
	}
	return s
}

func (s *sickness) weight(name string, t tensor.Tensor) {
	if n, _ := notFinite(t); n > 0 {
		s.weights = append(s.weights, name)
	}
}

// health says in a word what was found, and counts the warnings: healthy, odd or sick.
func (s *sickness) health() (word string, warnings int) {
	word, warnings = health(s.norms)
	if len(s.weights)+len(s.graph) > 0 {
		word = "sick"
	}
	return word, warnings
}

// faults says what is wrong, layer by layer.
func (s *sickness) faults() []string {
	all := slices.Clone(s.graph)
	for _, f := range bn.Examine(s.norms) {
		if f.Severity == bn.Fault {
			all = append(all, f.Layer+": "+f.Problem)
		}
	}
	for _, name := range s.weights {
		all = append(all, name+": values that are not finite")
	}
	return all
}

// warn says that the model of a file is sick, and why, if it is.
func (s *sickness) warn(o *output, path string) {
	if faults := s.faults(); len(faults) > 0 {
		o.note("%s is sick: %s; see bnctl doctor %s", path, few(faults), path)
	}
}

// watched returns tensors that are looked at when they are read, so that a
// file larger than memory is read once: what is wrong is known to s afterwards.
func (s *sickness) watched(tensors []formats.Tensor) ([]formats.Tensor, error) {
	skip := map[string]bool{}
	for _, n := range formats.BatchNorms(&formats.File{Tensors: tensors}) {
		skip[n.Mean], skip[n.Variance], skip[n.Gamma] = true, true, true
	}
	out := slices.Clone(tensors)
	for i, t := range tensors {
		if skip[t.Name] {
			continue
		}
		var err error
		out[i], err = formats.NewTensor(t.Name, t.DType, t.Shape, func(dst []byte) error {
			if err := t.ReadInto(dst); err != nil {
				return err
			}
			s.weight(t.Name, tensor.Tensor{DType: t.DType, Shape: t.Shape, Bytes: dst})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return out, nil
}
