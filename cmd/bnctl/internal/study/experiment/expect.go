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
	for _, setting := range s.results.Settings() {
		if s.isComplete(setting) && s.results.Duration(setting) != nil {
			continue
		}
		why, err := s.refused(ctx, setting)
		if err != nil {
			return err
		}
		if why != "" {
			s.note("%s: refused: %s", setting.Name(), why)
			s.results.Refuse(study.Refusal{Setting: setting, Reason: why})
			continue
		}
		const steps = 2
		v, err := s.timeOne(ctx, setting, steps)
		if err != nil {
			return err
		}
		s.results.SetDuration(s.durationOf(setting, float64(s.recipe.Batch)/v.Throughput))
	}
	if hour := s.results.InAnHour(); hour != nil {
		for _, line := range append(hour.Details, hour.Question+" "+hour.Answer) {
			s.note("%s", line)
		}
	}
	return s.save()
}

// isComplete reports whether all runs of a setting have been made.
func (s *runner) isComplete(setting study.Setting) bool {
	return !slices.ContainsFunc(s.results.Seeds, func(seed uint64) bool {
		return s.results.Find(setting, seed, s.digestOf(setting, seed)) == nil
	})
}

// refused returns why a setting cannot be trained, or "" if it can.
func (s *runner) refused(ctx context.Context, setting study.Setting) (why string, err error) {
	seed := s.results.Seeds[0]
	m, err := s.initialised(seed)
	if err != nil {
		return "", err
	}
	session, devices, err := s.start(ctx, &study.Run{Setting: setting, Seed: seed}, m, s.recipeOf(setting, seed))
	if why = refusal(setting, err); why != "" {
		return why, nil
	}
	if err != nil {
		return "", err
	}
	return "", errors.Join(session.Close(), devices.Close())
}

// durationOf returns the expected duration of a run, where a step needs step seconds. It assumes that
// evaluating a sample needs a third of the time of training on it.
func (s *runner) durationOf(setting study.Setting, step float64) study.Duration {
	r, evaluations := s.recipe, 1
	if r.Epochs > 0 {
		evaluations = (r.Epochs + r.EvalEvery - 1) / r.EvalEvery
	}
	scores, estimated := 1, 0
	if setting.Arm == study.Replica {
		scores, estimated = len(s.extraStatistics(setting))+1, s.recipeOf(setting, 0).BNPrecise
	}
	samples := (evaluations+scores)*r.Validation.Samples + estimated
	steps := float64(r.TotalSteps()) + float64(samples)/float64(3*r.Batch)
	return study.Duration{Setting: setting, Step: step, Run: steps * step}
}
