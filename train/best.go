package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// best is the state that served best on the validation data, without the optimizer's.
type best struct{ state map[string]tensor.Tensor }

// keepBest keeps the evaluated state as the best so far, for checkpoints, whatever becomes
// the template. nil means the trained state.
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

// bestEpoch returns the best evaluated epoch so far, or nil without evaluation.
func (p *Progress) bestEpoch(r *Recipe) *models.BestEpoch {
	per := r.StepsPerEpoch()
	if p.BestStep == 0 || per == 0 {
		return nil
	}
	return &models.BestEpoch{Epoch: (p.BestStep + per - 1) / per, Figure: string(r.criterion()),
		Value: p.Best}
}

// Best is the best epoch of a run so far, and which weights its template has.
type Best struct {
	models.BestEpoch
	Save string `json:"save"` // "last", or the figure that decides, as Recipe.Save has it
	// Stored reports whether the file holds its weights.
	Stored bool `json:"stored"`
}

// BestOf returns the best epoch of a checkpoint. It returns nil if its run has evaluated
// nothing yet, or if the recipe is of an unreadable release.
func BestOf(k *serialize.Checkpoint) *Best {
	r, err := ParseRecipe(k.Recipe)
	if err != nil {
		return nil
	}
	p, err := positionOf(k)
	b := p.Progress.bestEpoch(r)
	if err != nil || b == nil || b.Check() != nil {
		return nil
	}
	return &Best{*b, r.Save, k.Set(serialize.SetBest) != nil}
}

// String describes the epoch: "epoch 3, accuracy 91.20 %".
func (b *Best) String() string {
	return fmt.Sprintf("epoch %d, %s", b.Epoch, FigureText(b.Figure, b.Value))
}
