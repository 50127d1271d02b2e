package experiment

import (
	"context"
	"errors"
	"slices"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
)

// expectAll finds out which settings can be trained. For each setting that still has runs to make, it
// measures a step, to estimate the duration of a run.
func (s *runner) expectAll(ctx context.Context) error {
	s.results.Refused = nil
	for _, at := range s.results.Settings() {
		if s.made(at) && s.results.Duration(at) != nil {
			continue
		}
		why, err := s.refused(ctx, at)
		if err != nil {
			return err
		}
		if why != "" {
			s.note("%s: refused: %s", at.Name(), why)
			s.results.Refuse(study.Refusal{Setting: at, Reason: why})
			continue
		}
		const steps = 2
		v, err := s.timeOne(ctx, at, steps)
		if err != nil {
			return err
		}
		s.results.SetDuration(s.durationOf(at, float64(s.recipe.Batch)/v.Throughput))
	}
	if hour := s.results.InAnHour(); hour != nil {
		for _, line := range append(hour.Details, hour.Question+" "+hour.Answer) {
			s.note("%s", line)
		}
	}
	return s.save()
}

// made reports whether all runs of a setting have been made.
func (s *runner) made(at study.Setting) bool {
	return !slices.ContainsFunc(s.results.Seeds, func(seed uint64) bool {
		return s.results.Find(at, seed, s.digestOf(at, seed)) == nil
	})
}

// refused returns why a setting cannot be trained, or "" if it can.
func (s *runner) refused(ctx context.Context, at study.Setting) (why string, err error) {
	seed := s.results.Seeds[0]
	m, err := s.initialised(seed)
	if err != nil {
		return "", err
	}
	session, devices, err := s.start(ctx, &study.Run{Setting: at, Seed: seed}, m, s.recipeOf(at, seed))
	if why = refusal(at, err); why != "" {
		return why, nil
	}
	if err != nil {
		return "", err
	}
	return "", errors.Join(session.Close(), devices.Close())
}

// durationOf returns the expected duration of a run, where a step needs step seconds. It assumes that
// evaluating a sample needs a third of the time of training on it.
func (s *runner) durationOf(at study.Setting, step float64) study.Duration {
	r, evaluations := s.recipe, 1
	if r.Epochs > 0 {
		evaluations = (r.Epochs + r.EvalEvery - 1) / r.EvalEvery
	}
	scores, estimated := 1, 0
	if at.Arm == study.Replica {
		scores, estimated = len(s.extraStatistics(at))+1, s.recipeOf(at, 0).BNPrecise
	}
	samples := (evaluations+scores)*r.Validation.Samples + estimated
	steps := float64(r.TotalSteps()) + float64(samples)/float64(3*r.Batch)
	return study.Duration{Setting: at, Step: step, Run: steps * step}
}
