package train

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// setStaleGradients is the name of the set of a checkpoint with the gradients that wait.
const setStaleGradients = "late"

// trainedState declares the tensors that training changes.
func (p *plan) trainedState() []graph.State {
	var trained []graph.State
	for _, name := range p.trained {
		for _, st := range p.template.Graph.State {
			if st.Name == name {
				trained = append(trained, st)
			}
		}
	}
	return trained
}

// asyncWeights are equal in all replicas: each update is made from the gradients that are
// due in its step.
type asyncWeights struct {
	allReduceWeights
	waiting *weightsync.StaleGradients
	counts  *weightsync.Staleness // counts of waiting gradients; nil before the first step
}

// commit makes the next version of the state from the gradients due in a step.
func (w *asyncWeights) commit(ctx context.Context, o optimizerStep, found parallel.Result) error {
	due, next, err := w.waiting.Next(o.number, found.Gradients, o.batch.Sizes)
	if err != nil {
		return err
	}
	if err := w.driver.Write(ctx, due); err != nil {
		return err
	}
	if err := w.driver.Commit(ctx, o.hyper); err != nil {
		return err
	}
	counts := next.Staleness()
	w.waiting, w.counts = next, &counts
	return nil
}

func (w *asyncWeights) staleness() *weightsync.Staleness { return w.counts }

// pack puts the gradients that wait into a checkpoint. Their counts are part of
// the progress.
func (w *asyncWeights) pack(k *serialize.Checkpoint) {
	if t := w.waiting.Tensors(); len(t) > 0 {
		k.Sets = append(k.Sets, serialize.Set{Name: setStaleGradients, Tensors: t})
	}
}

func (w *asyncWeights) restore(k *serialize.Checkpoint, p *progress.Position) (err error) {
	if p.Staleness == nil {
		return nil
	}
	var waiting map[string]tensor.Tensor
	if set := k.Set(setStaleGradients); set != nil {
		waiting = set.Tensors
	}
	if w.waiting, err = w.waiting.Restored(waiting, *p.Staleness); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	w.counts = p.Staleness
	return nil
}
