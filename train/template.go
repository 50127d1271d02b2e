package train

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// finish makes the template: the last or the best weights, their average if the recipe has one, and
// statistics that are estimated again if the recipe requests that.
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
	statistics, err := s.derive(ctx, state)
	if err == nil && !ofBest {
		err = s.checkpointer.complete(statistics)
	}
	if err != nil {
		return nil, err
	}
	m, _, err := serialize.Strip(s.plan.pack(state))
	if err != nil {
		return nil, err
	}
	if m.Chain = s.trainer.chain.Seal(m.Recipe); ofBest {
		m.Best = s.trainer.progress.BestEpoch(s.plan.recipe)
	}
	return m, nil
}

// derives reports whether a template holds another state than the one that is trained.
func (s *Session) derives() bool { return s.plan.recipe.EMA > 0 || s.estimateOver() > 0 }

// derive turns a state of training into the state of a template: weights become their averages, and
// statistics are estimated again, as the recipe requests. It returns the estimated statistics, or nil
// without an estimate. It leaves the state on the devices.
func (s *Session) derive(ctx context.Context, state map[string]tensor.Tensor) (
	map[string]tensor.Tensor, error) {
	if s.plan.recipe.EMA > 0 {
		for _, name := range s.plan.trained {
			state[name] = state[serialize.AverageName(name)]
		}
	}
	n := s.estimateOver()
	if n == 0 {
		return nil, nil
	}
	s.plan.watched(Moment{Step: s.trainer.progress.Step, Doing: "estimating statistics"})
	statistics, err := s.estimate(ctx, state, n)
	maps.Copy(state, statistics)
	return statistics, err
}

// evaluateTemplate evaluates the state that a template made now would have. It returns that state with the
// averages, or nil if the template has the trained state. Afterwards the devices have the trained state
// again, even after an error, because an interrupted run writes the trained state.
func (s *Session) evaluateTemplate(ctx context.Context) (
	e *evaluation.Evaluation, state map[string]tensor.Tensor, err error) {
	if !s.derives() {
		statistics, err := s.trainer.statistics.final()
		if err != nil {
			return nil, nil, err
		}
		e, err = s.EvaluateWith(ctx, statistics)
		return e, nil, err
	}
	trained, err := s.trainer.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	state = maps.Clone(trained)
	defer func() {
		back := s.trainer.driver.Write(context.WithoutCancel(ctx), s.ofModel(trained))
		err = cmp.Or(err, back)
	}()
	statistics, err := s.derive(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	s.trainer.estimated = estimated{s.trainer.progress.Step, statistics}
	if err = s.trainer.driver.Write(ctx, s.ofModel(state)); err != nil {
		return nil, nil, err
	}
	e, err = s.evaluate(ctx)
	return e, state, err
}

// ofModel returns the part of a state that belongs to the model, without the optimizer's.
func (s *Session) ofModel(state map[string]tensor.Tensor) map[string]tensor.Tensor {
	of := map[string]tensor.Tensor{}
	for _, st := range s.plan.template.Graph.State {
		of[st.Name] = state[st.Name]
	}
	return of
}

// estimateOver returns how many samples the statistics are estimated over at the end.
// Statistics of averaged weights are always estimated, over a minimum number of batches.
func (s *Session) estimateOver() int {
	if s.plan.recipe.AveragesWeights() && s.plan.recipe.BNPrecise == 0 && len(s.trainer.statistics) > 0 {
		return averageSamples
	}
	return s.plan.recipe.BNPrecise
}

// averageSamples is the default number of samples for the statistics of averaged weights.
const averageSamples = 8192

// Finished returns the event for a template that the caller has written to
// path, with the SHA-256 sum of the file.
func (s *Session) Finished(path, sum string) Finished {
	done := Finished{Model: path, Audited: s.audited(), SHA256: sum, Steps: s.trainer.progress.Step,
		Seconds: time.Since(s.began).Seconds(), Lost: s.losses, Stages: s.stageShares(),
		Step: s.stagedStep()}
	if b := s.trainer.progress.BestEpoch(s.plan.recipe); b != nil {
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
