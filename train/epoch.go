package train

import (
	"context"
	"fmt"
	"maps"

	"github.com/bnctl/bnctl/tensor"
)

// best is the state that served best on the validation data.
type best struct{ state map[string]tensor.Tensor }

// endEpoch evaluates, tells of the epoch and starts the sums anew.
func (s *Session) endEpoch(ctx context.Context, m *meter) error {
	p, r := &s.progress, s.recipe
	number := (p.Step + r.StepsPerEpoch() - 1) / r.StepsPerEpoch()
	done := EpochDone{Epoch: number, TrainLoss: ratio(p.LossSum, p.Counted),
		TrainAccuracy: ratio(p.Correct, p.Counted), Seconds: m.elapsed().Seconds(), Throughput: m.throughput(),
		InputWait: m.share(m.input), SyncWait: m.share(m.sync), Seen: p.Seen, Repeated: p.Repeated,
		Dropped: s.unread(), Ranks: m.shares()}
	if s.config.Validation != nil && (number%max(r.EvalEvery, 1) == 0 || p.Step == r.TotalSteps()) {
		if err := s.validate(ctx, &done); err != nil {
			return err
		}
	}
	var err error
	if done.Gap, err = s.gap(ctx); err != nil {
		return err
	}
	done.Late = s.progress.Late
	done.Merged, done.Waited = s.statistics.lateness()
	s.emit(done)
	if err := s.balance(ctx); err != nil {
		return err
	}
	p.LossSum, p.Correct, p.Counted, p.Seen, p.Repeated = 0, 0, 0, 0, 0
	p.Closed = p.Step
	*m = newMeter()
	return nil
}

// balance moves replicas to the devices that were faster than others.
func (s *Session) balance(ctx context.Context) error {
	group := s.driver.Group()
	moved, err := group.Balance(ctx)
	if moved {
		s.emit(Placed{Step: s.progress.Step, Devices: group.Devices(), Replicas: group.Placement()})
	}
	return err
}

// unread returns the samples of the epoch's tail that the policy drop leaves out.
func (s *Session) unread() int {
	full := s.recipe.StepsPerEpoch() * s.recipe.StepBatch()
	if s.progress.Step%s.recipe.StepsPerEpoch() != 0 {
		return 0
	}
	return max(s.recipe.Data.Samples-full, 0)
}

// Evaluate evaluates the current model on the validation data.
func (s *Session) Evaluate(ctx context.Context) (*Evaluation, error) {
	statistics, err := s.statistics.final()
	if err != nil {
		return nil, err
	}
	return s.EvaluateWith(ctx, statistics)
}

// EvaluateWith evaluates the current weights with other running statistics
// (those of Beside) on the validation data.
func (s *Session) EvaluateWith(ctx context.Context, statistics map[string]tensor.Tensor) (
	*Evaluation, error) {
	if err := s.weights.show(ctx, statistics); err != nil {
		return nil, err
	}
	t := s.transform
	t.Augment = ""
	o := EvalOptions{Batch: s.recipe.StepBatch(), Workers: s.config.Workers, Transform: t,
		Probabilities: EndsInSoftmax(s.template.Graph), OwnRows: s.driver.OwnRows}
	if s.config.Peers == nil {
		o.Batch = s.driver.Rows()
	}
	return Evaluate(ctx, s.driver, s.config.Validation, o)
}

// validate evaluates and keeps the state if it is the best so far.
func (s *Session) validate(ctx context.Context, done *EpochDone) error {
	e, err := s.Evaluate(ctx)
	if err != nil {
		return err
	}
	loss, accuracy := e.Loss(), e.Accuracy()
	figure := Figure(loss)
	done.ValLoss, done.ValAccuracy = &figure, &accuracy
	if e.Masks {
		overlap := e.MeanOverlap()
		done.ValMIoU = &overlap
	}
	if loss-loss != 0 { // not finite: as bad as can be
		done.Warning = s.config.called(fmt.Sprintf("the validation loss is %v: with running statistics the model "+
			"yields what is no number; %s, or look at the validation data", loss, gentler))
	}
	p, c := &s.progress, criterionOf(s.recipe.Save)
	v := c.figure(e)
	if p.BestStep > 0 && !c.better(v, p.Best) {
		p.Stale++
		return nil
	}
	p.Stale, p.BestStep, p.Best = 0, p.Step, v
	if s.recipe.Save == "last" {
		return nil
	}
	state, err := s.current(ctx)
	if err != nil {
		return err
	}
	s.best = &best{maps.Clone(state)}
	return nil
}
