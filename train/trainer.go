package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
	"github.com/bnctl/bnctl/tensor"
)

// trainer makes the steps of a run. Each step is a transaction: after an error the run has the state before
// the step. The trainer has all state that a step changes and a checkpoint stores: weights, running
// statistics, progress.
type trainer struct {
	plan       *plan
	driver     Driver
	weights    weights
	statistics statistics
	progress   progress.Position
	best       *best
	estimated  estimated       // statistics estimated by the last evaluation
	chain      *chain.Chain    // chain of the epochs so far; nil if the run has no chain
	runContext context.Context // with peers, the context of Run; its end stops all ranks between two steps
}

// step runs one batch, checks the results and commits it.
func (t *trainer) step(ctx context.Context, b parallel.Batch) (parallel.Result, error) {
	if t.plan.recipe.BNMin == "running" && len(t.statistics) > 0 {
		live, err := t.statistics[0].running.Live()
		if err != nil {
			return parallel.Result{}, err
		}
		if err := t.driver.Write(ctx, live); err != nil {
			return parallel.Result{}, err
		}
	}
	o := optimizerStep{t.progress.Step, b,
		Hyper(t.plan.recipe, t.plan.schedule, t.progress.Step, t.progress.Reductions())}
	result, err := t.weights.step(t.orStop(ctx), o)
	if err != nil {
		return result, t.refused(err)
	}
	if err := bn.Check(t.plan.layers, result.Moments); err != nil {
		return result, t.located(err)
	}
	if !tensor.IsFinite(result.Loss) {
		return result, problem.Failure("lr", fmt.Sprintf("step %d: the loss is %v; nothing was committed",
			t.progress.Step+1, result.Loss), gentler)
	}
	next, err := t.statistics.next(result.Moments)
	if err != nil {
		return result, t.located(err)
	}
	if err := t.weights.commit(ctx, o, result); err != nil {
		return result, t.refused(err)
	}
	t.statistics, t.progress.Staleness = next, t.weights.staleness()
	return result, nil
}

// gentler is the advice for numbers that grow too large.
const gentler = "lower {lr}, add {warmup} or {clip-norm}"

// located adds step and device to an error about moments that are not finite.
func (t *trainer) located(err error) error {
	var bad *bn.NonFinite
	if errors.As(err, &bad) {
		return problem.Failure("lr", fmt.Sprintf("step %d: device %s: %v; nothing was committed",
			t.progress.Step+1, t.driver.Group().DeviceOf(bad.Replica), err),
			"look at the samples of this batch, or lower {lr}").Because(err)
	}
	return fmt.Errorf("step %d: %w", t.progress.Step+1, err)
}

// refused adds step and advice to an error about an update that is not finite.
func (t *trainer) refused(err error) error {
	if errors.Is(err, device.NonFinite) {
		return problem.Failure("lr", fmt.Sprintf("step %d: %v; the step was not committed", t.progress.Step+1, err),
			gentler).Because(err)
	}
	return err
}

// count adds a committed batch to the progress.
func (t *trainer) count(b *data.Batch, sl parallel.Slices, r parallel.Result) {
	p := &t.progress
	p.Step++
	p.LossSum += r.Loss
	p.Correct += r.Correct
	p.Counted += r.Counted
	p.Seen += b.Len()
	p.Repeated += sl.Repeated
}

// current returns the trained state of the model, with the running statistics.
func (t *trainer) current(ctx context.Context) (map[string]tensor.Tensor, error) {
	state, err := t.weights.state(ctx)
	if err != nil {
		return nil, err
	}
	statistics, err := t.statistics.final()
	if err != nil {
		return nil, err
	}
	maps.Copy(state, statistics)
	return state, nil
}

// checkpoint returns a checkpoint of the current state of the run. If the driver loses all devices later, it
// continues from this state.
func (t *trainer) checkpoint(ctx context.Context) (*serialize.Checkpoint, error) {
	state, err := t.weights.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	statistics, err := t.statistics.final()
	if err != nil {
		return nil, err
	}
	state = maps.Clone(state)
	maps.Copy(state, statistics)
	k := t.plan.pack(state)
	at := progress.Record{Progress: t.progress, Paths: t.plan.config.Paths,
		Settings: t.plan.config.Settings, Chained: t.chain != nil}
	if k.Progress, err = json.Marshal(at); err != nil {
		return nil, err
	}
	if t.best != nil {
		k.Sets = append(k.Sets, serialize.Set{Name: serialize.SetBest, Tensors: t.best.state})
		k.Best = t.progress.BestEpoch(t.plan.recipe)
	}
	if t.estimated.step == t.progress.Step {
		t.estimated.pack(k)
	}
	t.weights.pack(k)
	if err := t.statistics.pack(k); err != nil || t.chain == nil {
		return k, err
	}
	if k.Attachments == nil {
		k.Attachments = map[string][]byte{}
	}
	k.Attachments[chain.Attachment] = t.chain.Encode()
	return k, nil
}

// restore restores progress, best and statistics from a checkpoint. Weights that are not part of the
// checkpoint's state are restored when there is a driver.
func (t *trainer) restore(k *serialize.Checkpoint) error {
	p, err := progress.Read(k)
	if err != nil {
		return err
	}
	t.progress = p.Progress
	if err := t.restoreBest(k); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return t.statistics.restore(k)
}
