package formats

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// State returns the tensors of f from which m can be initialised (models.InitFrom). They
// have the names of the file's graph if it has one, and the layout of bnctl's graphs. A
// prefix that all names share is removed if no name fits with it. Counters are left out;
// the tensors need not fit.
func State(f *File, m *models.Model) (map[string]tensor.Tensor, error) {
	if f.Model != nil {
		return f.Model.State, nil
	}
	renameOld(f)
	original := f
	f, err := arranged(f, m)
	if err != nil {
		return nil, err
	}
	tensors := f.Tensors
	for range maxPrefixes {
		shorter, prefix := dropPrefix(tensors)
		if _, theirs := fromTimm(m.Architecture, tensors); theirs || prefix == "" || compare(tensors, m).used > 0 {
			break
		}
		tensors = shorter
	}
	if named, ok := fromTimm(m.Architecture, tensors); ok {
		tensors = shapedFor(m, named)
		sayTimm(original, m, false)
	}
	state := make(map[string]tensor.Tensor, len(tensors))
	sayQuantised(original, tensors, m)
	for _, t := range tensors {
		if !slices.Contains(floats, t.DType) {
			continue
		}
		if state[t.Name], err = t.Load(); err != nil {
			return nil, err
		}
	}
	return state, nil
}

// sayQuantised reports tensors of integers in place of a model's weights or statistics.
func sayQuantised(f *File, tensors []Tensor, m *models.Model) {
	var names []string
	for _, t := range tensors {
		if !slices.Contains(floats, t.DType) && !ignorable(t.Name) &&
			slices.ContainsFunc(m.Graph.State, func(s graph.State) bool { return s.Name == t.Name }) {
			names = append(names, t.String())
		}
	}
	if len(names) > 0 {
		f.Find("", fmt.Sprintf("%s of integers, as quantised models have, where %s has floats (%s): left out",
			problem.Plural(len(names), "tensor"), m.Architecture, firstNames(names)),
			"take the checkpoint that was quantised")
	}
}

// floats are the types of trained tensors.
var floats = []tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16}
