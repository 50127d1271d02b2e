package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// Run trains to the end of the recipe and returns the template. When ctx ends
// it finishes the step under way, writes the checkpoint and returns the
// context's error.
func (s *Session) Run(ctx context.Context) (*models.Model, error) {
	s.began = time.Now()
	s.start()
	if _, err := s.checkpoint(ctx); err != nil {
		return nil, s.stopped(ctx, err)
	}
	loader, err := s.loader(ctx)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	epoch, log := newMeter(), newMeter()
	for {
		if err := s.settle(ctx, &epoch, &log); err != nil {
			return nil, s.stopped(ctx, err)
		}
		if s.done() {
			s.tellOfPatience()
			break
		}
		if err := s.advance(ctx, loader, &epoch, &log); err != nil {
			return nil, s.stopped(ctx, err)
		}
	}
	m, err := s.finish(ctx)
	if err != nil {
		return nil, s.stopped(ctx, err)
	}
	return m, nil
}

// settle does what is due between two steps.
func (s *Session) settle(ctx context.Context, epoch, log *meter) error {
	if s.epochEnds() {
		began := time.Now()
		if err := s.endEpoch(ctx, epoch); err != nil {
			return err
		}
		log.leaveOut(time.Since(began))
	}
	return s.checkpointIfDue(ctx)
}

// stopped returns err. A run that was told to stop, or that has lost all
// devices, leaves a checkpoint.
func (s *Session) stopped(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return s.interrupted(ctx)
	case errors.Is(err, parallel.NoDevices):
		return s.abandoned(ctx, err)
	}
	return err
}

// done reports whether the run has come to its end, or lost its patience.
func (s *Session) done() bool {
	r := s.recipe
	return s.progress.Step >= r.TotalSteps() || r.Patience > 0 && s.progress.Stale >= r.Patience
}

// tellOfPatience says that the run ends before its last step, and why.
func (s *Session) tellOfPatience() {
	p, r := s.progress, s.recipe
	if p.Step >= r.TotalSteps() {
		return
	}
	figure := "accuracy"
	if r.Save == "best:loss" {
		figure = "loss"
	}
	s.emit(StoppedEarly{Reason: "patience", Step: p.Step, Evaluations: p.Stale, Figure: figure, Best: p.Best,
		BestEpoch: (p.BestStep + r.StepsPerEpoch() - 1) / r.StepsPerEpoch(), Save: r.Save})
}

// epochEnds reports whether an epoch has ended and was not evaluated yet.
func (s *Session) epochEnds() bool {
	p := s.progress
	return p.Step > p.Closed && (p.Step%s.recipe.StepsPerEpoch() == 0 || p.Step == s.recipe.TotalSteps())
}

func (s *Session) start() {
	kernels, deterministic := KernelClass(s.config.Devices)
	group := s.driver.Group()
	s.emit(Started{Recipe: s.recipe, Devices: group.Devices(), Placement: group.Placement(),
		Kernels: kernels, Deterministic: deterministic, BatchNorm: s.batchNormSees(),
		Parameters: s.template.Summary().Parameters,
		FirstStep:  s.progress.Step, TotalSteps: s.recipe.TotalSteps()})
}

// batchNormSees says over how many samples batch norm computes its statistics.
func (s *Session) batchNormSees() string {
	r := s.recipe
	switch r.BN {
	case bn.Frozen:
		return "running statistics, frozen"
	case bn.Sync:
		return fmt.Sprintf("%d samples, synchronised over %d replicas", r.StepBatch(), r.StepReplicas())
	}
	return fmt.Sprintf("%d samples per replica (%d / %d)", (r.StepBatch()+r.StepReplicas()-1)/r.StepReplicas(),
		r.StepBatch(), r.StepReplicas())
}

// loader reads on from where the run stands.
func (s *Session) loader(ctx context.Context) (*data.Loader, error) {
	perEpoch := s.recipe.StepsPerEpoch()
	return data.NewLoader(ctx, s.config.Train, data.Plan{
		Batch: s.recipe.StepBatch(), Seed: s.recipe.Seed, Shuffle: true, Workers: s.config.Workers,
		Transform: s.transform,
		Start:     data.Position{Epoch: s.progress.Step / perEpoch, Index: s.progress.Step % perEpoch}})
}

// advance makes one optimizer step: a transaction.
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
	slices := s.recipe.Tail.Slice(b.Len(), s.recipe.StepBatch(), s.recipe.StepReplicas())
	if slices.Dropped > 0 { // the tail is no step: the next batch begins an epoch
		return s.advance(ctx, l, epoch, log)
	}
	result, err := s.step(ctx, b, slices)
	if err != nil {
		return err
	}
	s.count(b, slices, result)
	for _, m := range []*meter{epoch, log} {
		m.rows += slices.Rows()
		m.input += waited
		m.sync += result.Timing.Blocked
		m.loss, m.correct, m.counted = m.loss+result.Loss, m.correct+result.Correct, m.counted+result.Counted
	}
	s.logIfDue(log)
	return nil
}

// step runs one batch, checks what came back and commits it.
func (s *Session) step(ctx context.Context, b *data.Batch, sl parallel.Slices) (parallel.Result, error) {
	if s.recipe.BNMin == "running" && len(s.kept) > 0 {
		live, err := s.kept[0].Live()
		if err != nil {
			return parallel.Result{}, err
		}
		if err := s.driver.Write(ctx, live); err != nil {
			return parallel.Result{}, err
		}
	}
	batch := s.batch(b, sl)
	s.remember(batch)
	result, err := s.compute(ctx, batch)
	if err != nil {
		return result, s.refused(err)
	}
	if err := bn.Check(s.layers, result.Moments); err != nil {
		return result, s.located(err)
	}
	if math.IsNaN(result.Loss) || math.IsInf(result.Loss, 0) {
		return result, fmt.Errorf("step %d: the loss is %v; nothing was committed; "+
			"lower --lr, add --warmup or --clip-norm", s.progress.Step+1, result.Loss)
	}
	next, err := s.nextKept(result.Moments)
	if err != nil {
		return result, s.located(err)
	}
	if err := s.commit(ctx, result, sl); err != nil {
		return result, s.refused(err)
	}
	s.kept = next
	return result, nil
}

// compute runs the training function on a batch.
func (s *Session) compute(ctx context.Context, b parallel.Batch) (parallel.Result, error) {
	if s.local != nil {
		return s.local.Step(ctx, b, Hyper(s.recipe, s.schedule, s.progress.Step))
	}
	return s.driver.Step(ctx, b)
}

// located adds step and device to an error about moments that are not finite.
func (s *Session) located(err error) error {
	var bad *bn.NonFinite
	if errors.As(err, &bad) {
		return fmt.Errorf("step %d: device %s: %w; nothing was committed; "+
			"look at the samples of this batch, or lower --lr",
			s.progress.Step+1, s.driver.Group().DeviceOf(bad.Replica), err)
	}
	return fmt.Errorf("step %d: %w", s.progress.Step+1, err)
}

// refused adds step and advice to an error about an update that is not finite.
func (s *Session) refused(err error) error {
	if errors.Is(err, device.NonFinite) {
		return fmt.Errorf("step %d: %w; the step was not committed; lower --lr, add --warmup or --clip-norm",
			s.progress.Step+1, err)
	}
	return err
}

// batch lays a batch out for the driver: repeated rows at the end, the
// denominator counted from the labels of the whole batch.
func (s *Session) batch(b *data.Batch, sl parallel.Slices) parallel.Batch {
	rows := map[string]tensor.Tensor{
		s.inputName():        repeatRows(b.X, sl.Repeated),
		parallel.InputLabels: repeatRows(b.Labels, sl.Repeated),
		parallel.InputIdent:  repeatRows(ident(b), sl.Repeated),
	}
	labels := rows[parallel.InputLabels]
	out := parallel.Batch{Rows: rows, Sizes: sl.Sizes, Inverse: inverse(labels)}
	from := 0
	for _, n := range sl.Sizes {
		out.Inverses = append(out.Inverses, inverse(labels.Rows(from, from+n)))
		from += n
	}
	return out
}

// inverse returns 1/denominator of the loss of rows with these labels.
func inverse(labels tensor.Tensor) float32 {
	counted := 0
	for _, l := range labels.I32() {
		if l != -1 {
			counted++
		}
	}
	return float32(1 / float64(max(counted, 1)))
}

// inputName names the model's input.
func (s *Session) inputName() string {
	return s.wrapped.Main.Values[s.wrapped.Main.Inputs[0]].Name
}

// ident returns (epoch, sample) of every row: what dropout is drawn by.
func ident(b *data.Batch) tensor.Tensor {
	t := tensor.New(tensor.I64, b.Len(), 2)
	for i, sample := range b.Samples.I64() {
		t.I64()[2*i], t.I64()[2*i+1] = int64(b.Epoch), sample
	}
	return t
}

// repeatRows appends the first rows of t, over and over if need be.
func repeatRows(t tensor.Tensor, n int) tensor.Tensor {
	if n == 0 {
		return t
	}
	shape := append([]int(nil), t.Shape...)
	shape[0] += n
	out := tensor.New(t.DType, shape...)
	for at := 0; at < len(out.Bytes); {
		at += copy(out.Bytes[at:], t.Bytes)
	}
	return out
}

func (s *Session) count(b *data.Batch, sl parallel.Slices, r parallel.Result) {
	p := &s.progress
	p.Step++
	p.LossSum += r.Loss
	p.Correct += r.Correct
	p.Counted += r.Counted
	p.Seen += b.Len()
	p.Repeated += sl.Repeated
}

func (s *Session) logIfDue(m *meter) {
	p := s.progress
	if every := max(s.config.LogEvery, 1); p.Step%every != 0 && p.Step != s.recipe.TotalSteps() {
		return
	}
	left := float64(s.recipe.TotalSteps()-p.Step) * float64(s.recipe.StepBatch())
	s.emit(Stepped{Step: p.Step, Epoch: (p.Step-1)/s.recipe.StepsPerEpoch() + 1,
		Loss: ratio(m.loss, m.counted), Accuracy: ratio(m.correct, m.counted), LR: s.schedule.Rate(p.Step - 1),
		Throughput: m.throughput(), InputWait: m.share(m.input), SyncWait: m.share(m.sync),
		Remaining: ratio(left, m.throughput())})
	*m = newMeter()
}
