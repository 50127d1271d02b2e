package train

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/tensor"
)

// endEpoch evaluates, reports the epoch and resets the sums.
func (s *Session) endEpoch(ctx context.Context, m *meter) error {
	p, r := &s.trainer.progress, s.plan.recipe
	number := (p.Step + r.StepsPerEpoch() - 1) / r.StepsPerEpoch()
	times := s.trainer.driver.Group().Times()
	done := EpochDone{Epoch: number, TrainLoss: ratio(p.LossSum, p.Counted), TrainLossIs: r.TrainLossTerms(),
		LeftOut: p.LeftOut, TrainAccuracy: s.plan.loss.Accuracy(p.Correct, p.Counted),
		Seconds: m.elapsed().Seconds(), Throughput: m.throughput(),
		InputWait: m.fraction(m.input), SyncWait: m.fraction(m.sync), Seen: p.Seen, Repeated: p.Repeated,
		Dropped: s.unread(), Devices: m.deviceShares(times), Machines: m.machineShares(times),
		Ranks: m.rankShares()}
	m.addBreakEven(done.Machines, times, s.trainer.driver.Group(), r.StepBatch())
	evaluation := ""
	if s.plan.config.Validation != nil && (number%max(r.EvalEvery, 1) == 0 || p.Step == r.TotalSteps()) {
		e, err := s.validate(ctx, &done)
		if err != nil {
			return err
		}
		evaluation = e.Sum()
	}
	if err := s.addLink(ctx, number, evaluation); err != nil {
		return err
	}
	s.plan.watched(Moment{Step: p.Step, Doing: "comparing training and use"})
	var err error
	if done.Gap, err = s.gap(ctx); err != nil {
		return err
	}
	done.Staleness = s.trainer.progress.Staleness
	done.Merged, done.Waited = s.trainer.statistics.staleness()
	done.Best = p.BestEpoch(r)
	s.plan.emit(done)
	if err := s.reportNorms(ctx, number); err != nil {
		return err
	}
	if err := s.balance(ctx); err != nil {
		return err
	}
	p.LossSum, p.Correct, p.Counted, p.Seen, p.Repeated, p.LeftOut = 0, 0, 0, 0, 0, 0
	p.Closed = p.Step
	*m = newMeter(s.trainer.driver.Group().Times())
	s.plan.watched(Moment{Step: p.Step})
	return nil
}

// balance moves replicas to the devices that were faster than others.
func (s *Session) balance(ctx context.Context) error {
	group := s.trainer.driver.Group()
	moved, err := group.Balance(ctx)
	if moved {
		s.plan.emit(Placed{Step: s.trainer.progress.Step, Devices: group.Devices(), Replicas: group.Placement()})
	}
	return err
}

// unread returns the number of samples of the epoch's tail that the policy drop leaves out.
func (s *Session) unread() int {
	full := s.plan.recipe.StepsPerEpoch() * s.plan.recipe.StepBatch()
	if s.trainer.progress.Step%s.plan.recipe.StepsPerEpoch() != 0 {
		return 0
	}
	return max(s.plan.recipe.Data.Samples-full, 0)
}

// Evaluate evaluates the state that a template would have now, on the validation data. This is the average
// of the weights if the recipe averages them, with re-estimated statistics if the recipe requests them.
func (s *Session) Evaluate(ctx context.Context) (*evaluation.Evaluation, error) {
	e, _, err := s.evaluateTemplate(ctx)
	return e, err
}

// EvaluateWith evaluates the current weights with other running statistics, from
// ExtraStatistics, on the validation data.
func (s *Session) EvaluateWith(ctx context.Context, statistics map[string]tensor.Tensor) (
	*evaluation.Evaluation, error) {
	if err := s.trainer.weights.show(ctx, statistics); err != nil {
		return nil, err
	}
	return s.evaluate(ctx)
}

// evaluate evaluates the state that the devices have.
func (s *Session) evaluate(ctx context.Context) (*evaluation.Evaluation, error) {
	t := s.plan.transform
	t.Augment = augmentation.Augmentation{}
	o := evaluation.Options{Batch: s.plan.recipe.StepBatch(), Workers: s.plan.config.Workers, Transform: t,
		Loss: s.plan.loss.Loss, Form: s.plan.template.BoxForm(),
		Probabilities: s.plan.loss.Probabilities(s.plan.template.Graph),
		OwnRows:       s.trainer.driver.OwnRows, KeepScores: s.plan.recipe.Criterion() == "auroc"}
	if s.plan.config.Peers == nil {
		o.Batch = s.trainer.driver.Rows()
	}
	m := Moment{Step: s.trainer.progress.Step, Doing: "evaluating", Of: s.plan.config.Validation.Info().Len}
	o.Done = func(samples int) {
		m.Samples = samples
		s.plan.watched(m)
	}
	o.Done(0)
	if s.plan.config.Observe != nil {
		o.Observers = s.plan.config.Observe()
	}
	return evaluation.Run(ctx, s.trainer.driver, s.plan.config.Validation, o)
}

// validate evaluates and keeps the state if it is the best so far.
func (s *Session) validate(ctx context.Context, epoch *EpochDone) (*evaluation.Evaluation, error) {
	e, state, err := s.evaluateTemplate(ctx)
	if err != nil {
		return nil, err
	}
	loss, accuracy := e.Loss(), e.Accuracy()
	figure := evaluation.Figure(loss)
	if epoch.ValLoss, epoch.ValAccuracy = &figure, &accuracy; e.Targets != nil {
		r2 := e.MeanR2()
		epoch.ValAccuracy, epoch.ValR2 = nil, &r2
	}
	if f := e.AveragePrecision(); f != nil {
		ap, ap50 := evaluation.Figure(f.AP), evaluation.Figure(f.AP50)
		epoch.ValAccuracy, epoch.ValAP, epoch.ValAP50 = nil, &ap, &ap50
	}
	if e.PerPixel {
		overlap := e.MeanOverlap()
		epoch.ValMIoU = &overlap
	}
	if !tensor.IsFinite(loss) { // a loss that is not finite counts as the worst
		epoch.Warning = s.plan.config.withOptionNames(fmt.Sprintf("the validation loss is %v: with running "+
			"statistics the model yields NaN or infinity; %s, or look at the validation data", loss, gentler))
	}
	p, c := &s.trainer.progress, s.plan.recipe.Criterion()
	p.Plateau = s.plan.schedule.AfterEvaluation(p.Plateau, loss)
	v := c.FigureOf(e)
	defer s.tellEvaluation(epoch.Epoch, e)
	if p.BestStep > 0 && !c.IsBetter(v, p.Best) {
		p.Stale++
		return e, nil
	}
	p.Stale, p.BestStep, p.Best = 0, p.Step, v
	return e, s.trainer.keepBest(ctx, state)
}
