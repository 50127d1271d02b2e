package progress

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// Lag is the distance between the weights of replicas and their average, the
// template, in a checkpoint (weightsync.LocalSGD).
type Lag struct {
	Steps    int     `json:"steps"`    // steps since the replicas were averaged
	Replicas int     `json:"replicas"` // replicas with separate weights
	Largest  float64 `json:"largest"`  // largest absolute difference of a weight of a replica from the template
	Tensor   string  `json:"tensor"`   // name of the tensor with this weight
}

// LagOf returns how far the weights of replicas are apart in a checkpoint; nil if all replicas
// have the weights of the template.
func LagOf(k *serialize.Checkpoint) (*Lag, error) {
	if k.Set(serialize.WeightSet(0)) == nil {
		return nil, nil
	}
	r, err := recipe.Parse(k.Recipe)
	if err != nil {
		return nil, err
	}
	p, err := Read(k)
	if err != nil {
		return nil, err
	}
	l := &Lag{Steps: sinceAverage(r, p.Progress.Step)}
	for ; k.Set(serialize.WeightSet(l.Replicas)) != nil; l.Replicas++ {
		if err := l.compare(k, k.Set(serialize.WeightSet(l.Replicas))); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// compare updates l with the distance of one replica from the template.
func (l *Lag) compare(k *serialize.Checkpoint, replicaSet *serialize.Set) error {
	weights := map[string]bool{}
	for _, s := range k.Graph.State {
		weights[s.Name] = s.Role.Trained()
	}
	for _, name := range slices.Sorted(maps.Keys(replicaSet.Tensors)) {
		t, mean := replicaSet.Tensors[name], k.State[name]
		if !weights[name] {
			continue
		}
		if t.DType != mean.DType || !slices.Equal(t.Shape, mean.Shape) {
			return fmt.Errorf("checkpoint: set %s: %s is %v, the model's is %v", replicaSet.Name, name, t, mean)
		}
		for i, v := range t.F32() {
			if d := math.Abs(float64(v) - float64(mean.F32()[i])); d > l.Largest {
				l.Largest, l.Tensor = d, name
			}
		}
	}
	return nil
}

// sinceAverage returns the number of steps between the last average of the replicas and a
// step.
func sinceAverage(r *recipe.Recipe, step int) int {
	period, ok := r.WeightSync.Period()
	if !ok {
		return 0
	}
	return step % period
}
