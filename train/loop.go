package train

import (
	"context"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// Run trains to the end of the recipe and returns the template. When ctx ends it finishes
// the current step, writes the checkpoint and returns the context's cause. If the fleet is
// closed the error is from Fleet.Err.
func (s *Session) Run(ctx context.Context) (*models.Model, error) {
	if s.trainer.driver == nil {
		return nil, problem.New("session", "", "it is closed", "make another with New or Resume")
	}
	s.began = time.Now()
	run := s.run
	if s.plan.config.Peers != nil {
		run = s.runOnRank
	}
	m, err := run(ctx)
	return m, s.fleetEnded(err)
}

// run runs a single rank, or one of several ranks.
func (s *Session) run(ctx context.Context) (*models.Model, error) {
	s.start()
	if _, err := s.checkpointer.take(ctx); err != nil {
		return nil, s.checkpointer.stopped(ctx, err)
	}
	loader, err := s.loader(ctx)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	times := s.trainer.driver.Group().Times()
	epoch, log := newMeter(times), newMeter(times)
	for {
		if err := s.betweenSteps(ctx, &epoch, &log); err != nil {
			return nil, s.checkpointer.stopped(ctx, err)
		}
		if s.done() {
			s.reportEarlyStop()
			break
		}
		if err := s.advance(ctx, loader, &epoch, &log); err != nil {
			return nil, s.checkpointer.stopped(ctx, err)
		}
		s.reportMachines(&epoch)
	}
	m, err := s.finish(ctx)
	if err != nil {
		return nil, s.checkpointer.stopped(ctx, err)
	}
	return m, nil
}

// betweenSteps does the work due between two steps.
func (s *Session) betweenSteps(ctx context.Context, epoch, log *meter) error {
	if s.epochEnds() {
		began, times := time.Now(), s.trainer.driver.Group().Times()
		if err := s.endEpoch(ctx, epoch); err != nil {
			return err
		}
		log.leaveOut(time.Since(began), times, s.trainer.driver.Group().Times())
	}
	if s.rebuilds() {
		if err := s.rebuild(ctx, epoch, log); err != nil {
			return err
		}
	}
	return s.checkpointer.saveIfDue(ctx)
}

// done reports whether the run has reached its last step, or was stopped early.
func (s *Session) done() bool {
	r := s.plan.recipe
	return s.trainer.progress.Step >= r.TotalSteps() || r.Patience > 0 && s.trainer.progress.Stale >= r.Patience
}

// reportEarlyStop reports that the run ends before its last step, and why.
func (s *Session) reportEarlyStop() {
	p, r := s.trainer.progress, s.plan.recipe
	if p.Step >= r.TotalSteps() {
		return
	}
	b := p.BestEpoch(r)
	s.plan.emit(StoppedEarly{Reason: "patience", Step: p.Step, Evaluations: p.Stale, Figure: b.Figure,
		Best: b.Value, BestEpoch: b.Epoch, Save: r.Save})
}

// epochEnds reports whether an epoch has ended and was not evaluated yet.
func (s *Session) epochEnds() bool {
	p, r := s.trainer.progress, s.plan.recipe
	return p.Step > p.Closed && (p.Step%r.StepsPerEpoch() == 0 || p.Step == r.TotalSteps())
}

func (s *Session) start() {
	kernels, deterministic := parallel.KernelClass(s.devices.members)
	group := s.trainer.driver.Group()
	ranks := 0
	if s.plan.config.Peers != nil {
		ranks = s.plan.config.Peers.Size()
	}
	s.plan.emit(Started{Ranks: ranks, Stages: s.stageShares(), Recipe: s.plan.recipe, Devices: group.Devices(),
		Placement: group.Placement(), Kernels: kernels, Deterministic: deterministic, BatchNorm: s.batchNormSees(),
		Input: sees(s.plan.template.Input()), Pictures: s.pictures(),
		Moving:     s.plan.config.withOptionNames(s.plan.recipe.MovingStatistics(s.plan.template.Graph)),
		Tensors:    countTensors(s.plan.template.Graph.State, s.plan.recipe.Freeze),
		Parameters: s.plan.template.Summary().Parameters, Environment: s.environment(),
		Paths: s.plan.config.Paths, Checkpoint: s.plan.config.Checkpoint, GoOn: s.plan.config.GoOn,
		FirstStep: s.trainer.progress.Step, TotalSteps: s.plan.recipe.TotalSteps()})
	if m := machinesOf(group); len(m.Machines) > 0 {
		s.plan.emit(m)
	}
}

// batchNormSees describes how many samples batch norm computes its statistics over.
func (s *Session) batchNormSees() string {
	r := s.plan.recipe
	switch {
	case !s.plan.template.Normalises():
		return "none in this network"
	case r.BN == bn.Frozen:
		return "running statistics, frozen"
	case r.BN == bn.Sync:
		return problem.Plural(r.StepBatch(), "sample") + ", synchronised over " +
			problem.Plural(r.StepReplicas(), "replica")
	}
	most := (r.StepBatch() + r.StepReplicas() - 1) / r.StepReplicas()
	return fmt.Sprintf("%s per replica (%d / %d)", problem.Plural(most, "sample"), r.StepBatch(),
		r.StepReplicas())
}

// loader returns a loader that continues at the current step of the run.
func (s *Session) loader(ctx context.Context) (*data.Loader, error) {
	perEpoch := s.plan.recipe.StepsPerEpoch()
	weights, err := s.plan.recipe.SampleWeights(ctx, s.plan.config.Train)
	if err != nil {
		return nil, err
	}
	return data.NewLoader(ctx, s.plan.config.Train, data.Plan{
		Batch: s.plan.recipe.StepBatch(), Seed: s.plan.recipe.Seed, Shuffle: true, Workers: s.plan.config.Workers,
		Transform: s.plan.transform, Select: s.wanted(), Weights: weights,
		Start: data.Position{Epoch: s.trainer.progress.Step / perEpoch, Index: s.trainer.progress.Step % perEpoch}})
}

// advance makes one optimizer step. The step succeeds or fails as a whole.
func (s *Session) advance(ctx context.Context, l *data.Loader, epoch, log *meter) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	began := time.Now()
	b, err := l.Next()
	if err != nil {
		return err
	}
	defer b.Release()
	waited := time.Since(began)
	slices := s.plan.recipe.Tail.Slice(b.Len(), s.plan.recipe.StepBatch(), s.plan.recipe.StepReplicas())
	if slices.Dropped > 0 { // a dropped tail is not a step: the next batch begins an epoch
		return s.advance(ctx, l, epoch, log)
	}
	batch := s.plan.batch(b, slices)
	batch.Waited = waited
	if s.leaveOut(b, batch, slices, log) {
		return nil
	}
	s.remember(batch)
	result, err := s.trainer.step(ctx, batch)
	if err != nil {
		return s.attribute(b, err)
	}
	s.watchNorms(batch, result.Moments)
	result = s.plan.perLabel(batch, result)
	s.trainer.count(b, slices, result)
	for _, m := range []*meter{epoch, log} {
		m.rows += slices.Rows()
		m.add(result.Ranks)
		m.input += waited
		m.sync += result.Timing.Blocked
		m.loss, m.correct, m.counted = m.loss+result.Loss, m.correct+result.Correct, m.counted+result.Counted
	}
	s.watchStep(log, slices.Rows(), result)
	s.logIfDue(log)
	if result.Stop {
		return errStopped
	}
	return nil
}

// watchStep reports a finished step to a display.
func (s *Session) watchStep(m *meter, rows int, r parallel.Result) {
	if s.plan.config.Watch == nil {
		return
	}
	s.plan.watched(Moment{Step: s.trainer.progress.Step, Rows: rows, Loss: ratio(r.Loss, r.Counted),
		Accuracy: float64(s.plan.loss.Accuracy(r.Correct, r.Counted)), InputWait: m.fraction(m.input),
		Devices: m.deviceShares(s.trainer.driver.Group().Times()), Ranks: m.rankShares()})
}

// logIfDue reports the steps since the previous report, if a report is due.
func (s *Session) logIfDue(m *meter) {
	p := s.trainer.progress
	if every := max(s.plan.config.LogEvery, 1); p.Step%every != 0 && p.Step != s.plan.recipe.TotalSteps() {
		return
	}
	times := s.trainer.driver.Group().Times()
	left := float64(s.plan.recipe.TotalSteps()-p.Step) * float64(s.plan.recipe.StepBatch())
	s.plan.emit(Stepped{Step: p.Step, Epoch: (p.Step-1)/s.plan.recipe.StepsPerEpoch() + 1,
		Loss: ratio(m.loss, m.counted), Accuracy: s.plan.loss.Accuracy(m.correct, m.counted),
		LR:         s.plan.schedule.RateReduced(p.Step-1, p.Reductions()),
		Throughput: m.throughput(), InputWait: m.fraction(m.input), SyncWait: m.fraction(m.sync),
		Remaining: ratio(left, m.throughput()), Devices: m.deviceShares(times), Machines: m.machineShares(times),
		Ranks: m.rankShares()})
	*m = newMeter(times)
}
