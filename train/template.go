package train

import (
	"context"
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
	ofBest := s.trainer.best != nil && s.plan.recipe.Save != "last"
	if ofBest {
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
	if err == nil && ofBest {
		m.Best = s.trainer.progress.bestEpoch(s.plan.recipe)
	}
	return m, err
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
		Seconds: time.Since(s.began).Seconds(), Lost: s.losses, Stages: s.stageShares(),
		Step: s.stagedStep()}
	if b := s.trainer.progress.bestEpoch(s.plan.recipe); b != nil {
		done.BestEpoch, done.Best, done.Figure, done.Save = b.Epoch, b.Value, b.Figure, s.plan.recipe.Save
		done.OfBest = done.Save != "last" || s.trainer.progress.BestStep == done.Steps
		if s.trainer.best != nil && !done.OfBest {
			done.BestIn = s.plan.config.Checkpoint
		}
	}
	if stale := s.trainer.progress.Staleness; stale != nil {
		done.Dropped = stale.Left()
	}
	return done
}
