package bn

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// Replicas keeps separate running statistics for each of R replicas until they are merged.
type Replicas struct {
	layers     []Layer
	PerReplica []*Statistics // statistics by replica
}

// NewReplicas returns statistics for the given number of replicas, all starting from state.
func NewReplicas(layers []Layer, state map[string]tensor.Tensor, replicas int) (*Replicas, error) {
	if replicas < 1 {
		return nil, fmt.Errorf("bn: statistics of %d replicas, want at least 1", replicas)
	}
	r := &Replicas{layers: layers}
	for i := range replicas {
		s, err := newForReplica(layers, state, i)
		if err != nil {
			return nil, err
		}
		r.PerReplica = append(r.PerReplica, s)
	}
	return r, nil
}

// Next returns the statistics after one more step. moments is f64 [R,1+2C] per layer, checked with
// Check; row r updates the statistics of replica r. Next returns the errors of Statistics.Next.
func (r *Replicas) Next(moments []tensor.Tensor) (*Replicas, error) {
	next := &Replicas{layers: r.layers}
	for _, old := range r.PerReplica {
		s, err := old.Next(moments)
		if err != nil {
			return nil, err
		}
		next.PerReplica = append(next.PerReplica, s)
	}
	return next, nil
}

// Merged returns one set of statistics, merged from all replicas by rule. Replicas that never saw enough
// values for an update are left out if some replica did. The error is a *NonFinite if the result overflows
// float32.
func (r *Replicas) Merged(rule Rule) (map[string]tensor.Tensor, error) {
	var seen, all []map[string]tensor.Tensor
	for _, s := range r.PerReplica {
		t := s.Tensors()
		all = append(all, t)
		if s.updated() {
			seen = append(seen, t)
		}
	}
	if len(seen) > 0 {
		all = seen
	}
	w := make([]float64, len(all))
	for i := range w {
		w[i] = 1 / float64(len(all))
	}
	return merge(r.layers, all, w, rule)
}

// updated reports whether any layer was ever updated.
func (s *Statistics) updated() bool {
	for _, n := range s.updates {
		if n > 0 {
			return true
		}
	}
	return false
}
