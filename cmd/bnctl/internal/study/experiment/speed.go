package experiment

import (
	"context"
	"errors"
	"time"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// timeAll measures how fast every setting trains, on generated input.
func (s *runner) timeAll(ctx context.Context) error {
	for _, setting := range s.results.Settings() {
		v, err := s.timeOne(ctx, setting, s.o.SpeedSteps)
		if err != nil {
			return err
		}
		s.results.SetSpeed(v)
		s.found(v)
		s.note("speed  %s, %s per replica: %.0f img/s, %.1f %% of the time in synchronisation", setting.Arm,
			problem.Plural(setting.PerReplica, "sample"), v.Throughput, 100*v.Sync)
	}
	return s.save()
}

// timeOne measures the time of the steps of a setting, after two steps that do not count.
func (s *runner) timeOne(ctx context.Context, setting study.Setting, steps int) (v study.Speed, err error) {
	const warmUp = 2
	r := s.recipeOf(setting, 0)
	devices, err := s.open(ctx, s.devicesOf(setting), setting.Replicas)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, devices.Close()) }()
	training, err := bench.StartTraining(ctx, r, s.o.Model, devices.Members, parallel.Stages{}, nil)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, training.Close()) }()
	v = study.Speed{Setting: setting, Devices: s.devicesOf(setting), Threads: devices.Threads(),
		Steps: steps}
	var began time.Time
	var blocked time.Duration
	for i := range warmUp + v.Steps {
		if i == warmUp {
			began, blocked = time.Now(), 0
		}
		timing, err := training.Step(ctx)
		if err != nil {
			return v, err
		}
		blocked += timing.Blocked
	}
	took := time.Since(began).Seconds()
	v.Throughput, v.Sync = float64(r.Batch*v.Steps)/took, blocked.Seconds()/took
	return v, nil
}
