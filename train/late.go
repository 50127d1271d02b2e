package train

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// setLate names the set of a checkpoint with the gradients that wait.
const setLate = "late"

// apart reports whether gradients come back replica by replica, and updates
// take them from the state.
func (r *Recipe) apart() bool {
	_, late := r.WeightSync.Span()
	return late
}

// startLate begins with no gradient waiting.
func (s *Session) startLate() {
	span, ok := s.recipe.WeightSync.Span()
	if !ok {
		return
	}
	var trained []graph.State
	for _, name := range s.trained {
		for _, st := range s.template.Graph.State {
			if st.Name == name {
				trained = append(trained, st)
			}
		}
	}
	s.late = parallel.NewLate(trained, s.recipe.Seed, span)
}

// commit makes the next version of the state from what a step found, or from
// what is due in it.
func (s *Session) commit(ctx context.Context, found parallel.Result, sl parallel.Slices) error {
	if s.local != nil {
		s.local.Commit()
		s.averageIfDue()
		return nil
	}
	h := Hyper(s.recipe, s.schedule, s.progress.Step)
	if s.late == nil {
		return s.driver.Commit(ctx, h)
	}
	due, next, err := s.late.Next(s.progress.Step, found.Gradients, sl.Sizes)
	if err != nil {
		return err
	}
	if err := s.driver.Write(ctx, due); err != nil {
		return err
	}
	if err := s.driver.Commit(ctx, h); err != nil {
		return err
	}
	s.late = next
	counts := next.Lateness()
	s.progress.Late = &counts
	return nil
}

// packLate puts the gradients that wait into a checkpoint.
func (s *Session) packLate(k *serialize.Checkpoint) {
	if s.late == nil {
		return
	}
	if t := s.late.Tensors(); len(t) > 0 { // their counts are part of the progress
		k.Sets = append(k.Sets, serialize.Set{Name: setLate, Tensors: t})
	}
}

// restoreLate takes them from a checkpoint.
func (s *Session) restoreLate(k *serialize.Checkpoint) (err error) {
	if s.late == nil || s.progress.Late == nil {
		return nil
	}
	var waiting map[string]tensor.Tensor
	if set := k.Set(setLate); set != nil {
		waiting = set.Tensors
	}
	if s.late, err = s.late.Restored(waiting, *s.progress.Late); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}
