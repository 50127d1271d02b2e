package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// best is the state with the best figure on the validation data, without the optimizer's state.
type best struct{ state map[string]tensor.Tensor }

// keepBest keeps the evaluated state as the best so far, for checkpoints. It does so even if the
// template will have another state, for example the last one. A nil state means the trained state.
func (t *trainer) keepBest(ctx context.Context, state map[string]tensor.Tensor) (err error) {
	if state == nil {
		if state, err = t.current(ctx); err != nil {
			return err
		}
	}
	t.best = &best{maps.Clone(state)}
	for _, s := range t.plan.trainingState() {
		if s.Role == graph.Optimizer {
			delete(t.best.state, s.Name)
		}
	}
	return nil
}

// restoreBest restores the best state of a checkpoint. A checkpoint of an older release has
// no best state if the recipe does not save it.
func (t *trainer) restoreBest(k *serialize.Checkpoint) error {
	set, r := k.Set(serialize.SetBest), t.plan.recipe
	if set == nil {
		if k.Best != nil || r.Save != "last" && t.progress.BestStep > 0 {
			return fmt.Errorf("the weights of the best epoch are missing")
		}
		return nil
	}
	if _, _, err := serialize.StripBest(k); err != nil {
		return fmt.Errorf("the best epoch: %w", err)
	}
	for _, s := range t.plan.trainingState() {
		v, ok := set.Tensors[s.Name]
		if s.Role == graph.Average && (!ok || v.DType != s.DType || !slices.Equal(v.Shape, s.Shape)) {
			return fmt.Errorf("the best epoch: %s is missing, or of another shape", s.Name)
		}
	}
	t.best = &best{set.Tensors}
	return nil
}
