package train

import (
	"context"
	"fmt"
	"maps"

	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// local reports whether replicas have weights of their own.
func (r *Recipe) local() bool {
	_, ok := r.WeightSync.Period()
	return ok
}

// startLocal begins with what a checkpoint brought, or with the same weights
// in all replicas.
func (s *Session) startLocal() error {
	if !s.recipe.local() {
		return nil
	}
	s.local = parallel.NewLocal(s.driver, s.state)
	if s.own == nil {
		return nil
	}
	if err := s.local.Restore(s.own, sinceAverage(s.recipe, s.progress.Step)); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	s.own = nil
	return nil
}

// sinceAverage returns for how many steps replicas have been on their own
// after a step.
func sinceAverage(r *Recipe, step int) int {
	period, ok := r.WeightSync.Period()
	if !ok {
		return 0
	}
	return step % period
}

// averageIfDue gives all replicas their average if the step under way is the last
// of a period.
func (s *Session) averageIfDue() {
	if sinceAverage(s.recipe, s.progress.Step+1) == 0 {
		s.local.Average()
	}
}

// allState returns the state of the model as it is trained, and makes it what
// remains if all devices are lost later.
func (s *Session) allState(ctx context.Context) (map[string]tensor.Tensor, error) {
	if s.local != nil {
		return s.local.State(), nil
	}
	return s.driver.Snapshot(ctx)
}

// show makes the devices ready to use the model as it is trained, with some
// running statistics: replicas with weights of their own are averaged first.
func (s *Session) show(ctx context.Context, statistics map[string]tensor.Tensor) error {
	if s.local != nil {
		state := s.local.State()
		maps.Copy(state, statistics)
		statistics = state
	}
	return s.driver.Write(ctx, statistics)
}

// packLocal puts what replicas have of their own into a checkpoint.
func (s *Session) packLocal(k *serialize.Checkpoint) {
	if s.local == nil {
		return
	}
	for r, own := range s.local.Own() {
		k.Sets = append(k.Sets, serialize.Set{Name: serialize.SetOfWeights(r), Tensors: own})
	}
}

// restoreLocal takes that from a checkpoint.
func (s *Session) restoreLocal(k *serialize.Checkpoint) error {
	if sinceAverage(s.recipe, s.progress.Step) == 0 {
		return nil
	}
	for r := range s.recipe.StepReplicas() {
		set := k.Set(serialize.SetOfWeights(r))
		if set == nil {
			return fmt.Errorf("checkpoint: the weights of replica %d are missing", r)
		}
		s.own = append(s.own, set.Tensors)
	}
	return nil
}
