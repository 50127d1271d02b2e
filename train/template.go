package train

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// finish makes the template: the last or the best weights, their average if
// the recipe has one, statistics estimated again where it says so.
func (s *Session) finish(ctx context.Context) (*models.Model, error) {
	if s.checkpointer.saved != s.trainer.progress.Step {
		if err := s.checkpointer.save(ctx); err != nil {
			return nil, err
		}
	}
	state, err := s.trainer.current(ctx)
	if err != nil {
		return nil, err
	}
	if s.trainer.best != nil {
		state = maps.Clone(s.trainer.best.state)
	}
	if s.plan.recipe.EMA > 0 {
		for _, name := range s.plan.trained {
			state[name] = state["average/"+name]
		}
	}
	if n := s.estimateOver(); n > 0 {
		s.plan.watched(Moment{Step: s.trainer.progress.Step, Doing: "estimating statistics"})
		statistics, err := s.estimate(ctx, state, n)
		if err != nil {
			return nil, err
		}
		maps.Copy(state, statistics)
	}
	m, _, err := serialize.Strip(s.plan.pack(state))
	if err == nil && s.trainer.best != nil {
		m.Best = s.trainer.progress.bestEpoch(s.plan.recipe)
	}
	return m, err
}

// bestEpoch returns what evaluation found best so far; nil without evaluation.
func (p *Progress) bestEpoch(r *Recipe) *models.BestEpoch {
	per := r.StepsPerEpoch()
	if p.BestStep == 0 || per == 0 {
		return nil
	}
	return &models.BestEpoch{Epoch: (p.BestStep + per - 1) / per, Figure: string(criterionOf(r.Save)),
		Value: p.Best}
}

// Best is the best epoch of a run so far, and which weights its template has.
type Best struct {
	models.BestEpoch
	Save string `json:"save"` // "last", or the figure that decides, as Recipe.Save has it
}

// BestOf returns the best epoch of a checkpoint; nil if its run has evaluated nothing yet, or
// is of a release whose recipe is not read.
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
	return &Best{*b, r.Save}
}

// String says which epoch it is: "epoch 3, accuracy 91.20 %".
func (b *Best) String() string {
	return fmt.Sprintf("epoch %d, %s", b.Epoch, FigureText(b.Figure, b.Value))
}

// estimateOver returns over how many samples the statistics are estimated at
// the end: those of averaged weights always are, over at least some batches.
func (s *Session) estimateOver() int {
	if s.plan.recipe.averages() && s.plan.recipe.BNPrecise == 0 && len(s.trainer.statistics) > 0 {
		return averageSamples
	}
	return s.plan.recipe.BNPrecise
}

// averageSamples is how many samples the statistics of averaged weights are
// estimated over, if the recipe does not say.
const averageSamples = 8192

// Finished returns the event for a template that the caller has written to
// path, with the SHA-256 sum of the file.
func (s *Session) Finished(path, sum string) Finished {
	done := Finished{Model: path, SHA256: sum, Steps: s.trainer.progress.Step,
		Seconds: time.Since(s.began).Seconds(), Lost: s.losses}
	if b := s.trainer.progress.bestEpoch(s.plan.recipe); b != nil {
		done.BestEpoch, done.Best, done.Figure, done.Save = b.Epoch, b.Value, b.Figure, s.plan.recipe.Save
	}
	if stale := s.trainer.progress.Staleness; stale != nil {
		done.Dropped = stale.Left()
	}
	return done
}
