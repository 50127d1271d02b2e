package train

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
)

// A training for int8 may change its model between two epochs (recipe.QATRanges and QATFold). The run then
// continues as from a checkpoint with the other model, on the same devices. If both models have the same
// state tensors, the optimizer's tensors stay. Otherwise they begin as zeros, and averages at the weights.
// The best epoch so far had another model, so that the search for the best begins again.

// rebuilds reports whether the model is rebuilt before the next step.
func (s *Session) rebuilds() bool {
	p, per := s.trainer.progress, s.plan.recipe.StepsPerEpoch()
	return p.Step == p.Closed && p.Step%per == 0 && p.Rebuilt < p.Step/per && s.plan.recipe.Rebuilds(p.Step/per)
}

// rebuild rebuilds the model, and starts the meters again.
func (s *Session) rebuild(ctx context.Context, epoch, log *meter) error {
	c, number := s.plan.config, s.trainer.progress.Step/s.plan.recipe.StepsPerEpoch()
	if c.Rebuild == nil {
		return errors.New("train: the recipe rebuilds its model, and Config.Rebuild is missing")
	}
	s.plan.watched(Moment{Step: s.trainer.progress.Step, Doing: "measuring ranges"})
	k, err := s.checkpointer.take(ctx)
	if err != nil {
		return err
	}
	was, err := serialize.Unwrap(k)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	m, err := c.Rebuild(ctx, was, number)
	if err != nil {
		return err
	}
	from, err := withModel(k, was, m, number)
	if err != nil {
		return err
	}
	next, err := Resume(ctx, from, s.plan.recipe, c)
	if err != nil {
		return err
	}
	next.began, next.losses, next.trainer.runContext = s.began, s.losses, s.trainer.runContext
	next.checkpointer.snapshot, next.checkpointer.saved = from, s.checkpointer.saved
	*s = *next
	*epoch, *log = newMeter(s.trainer.driver.Group().Times()), newMeter(s.trainer.driver.Group().Times())
	return nil
}

// withModel returns k with the model m from an epoch on. was is the model of k.
func withModel(k *serialize.Checkpoint, was, m *models.Model, epoch int) (*serialize.Checkpoint, error) {
	p, err := progress.Read(k)
	if err != nil {
		return nil, err
	}
	p.Progress.Rebuilt = epoch
	p.Progress.BestStep, p.Progress.Best, p.Progress.Stale = 0, 0, 0
	out := *k
	if out.Progress, err = json.Marshal(p); err != nil {
		return nil, err
	}
	out.Graph, out.Float, out.State = m.Graph, m.Float, maps.Clone(m.State)
	out.Sets, out.Best = nil, nil
	if !slices.EqualFunc(was.Graph.State, m.Graph.State, sameState) {
		out.Training = nil
		return &out, nil
	}
	for _, s := range k.Training {
		out.State[s.Name] = k.State[s.Name]
	}
	for _, set := range k.Sets {
		if set.Name != serialize.SetBest && set.Name != serialize.SetEstimated {
			out.Sets = append(out.Sets, set)
		}
	}
	return &out, nil
}

// sameState reports whether two declarations are of the same tensor.
func sameState(a, b graph.State) bool {
	return a.Name == b.Name && a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && a.Role == b.Role
}
