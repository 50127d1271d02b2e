package formats

import (
	"slices"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// State returns the tensors of f from which m can be initialised
// (models.InitFrom): with the names of the file's graph if it has one, and in
// the layout of bnctl's graphs. A prefix that all names share is removed if no
// name fits with it. Counters are left out; the tensors need not fit.
func State(f *File, m *models.Model) (map[string]tensor.Tensor, error) {
	if f.Model != nil {
		return f.Model.State, nil
	}
	f, err := arranged(f, m)
	if err != nil {
		return nil, err
	}
	tensors := f.Tensors
	for range maxPrefixes {
		shorter, prefix := dropPrefix(tensors)
		if prefix == "" || compare(tensors, m).taken > 0 {
			break
		}
		tensors = shorter
	}
	state := make(map[string]tensor.Tensor, len(tensors))
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

// floats are the types of what is trained.
var floats = []tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16}
