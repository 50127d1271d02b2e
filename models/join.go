package models

import (
	"maps"

	"github.com/bnctl/bnctl/tensor"
)

// JoinActivations makes activations of m that are written as their parts one operation each
// (graph.JoinActivations).
func (m *Model) JoinActivations() error {
	joined, err := m.Graph.JoinActivations(func(name string) (float32, bool) {
		t, ok := m.State[name]
		if !ok || t.DType != tensor.F32 || t.Count() != 1 {
			return 0, false
		}
		return t.F32()[0], true
	})
	if err != nil {
		return err
	}
	declared := map[string]bool{}
	for _, s := range joined.State {
		declared[s.Name] = true
	}
	maps.DeleteFunc(m.State, func(name string, _ tensor.Tensor) bool { return !declared[name] })
	m.Graph = joined
	return nil
}
