package train

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// weights is the weights of a run, in one of the ways of weightsync.Sync: in the driver alone
// (allReduceWeights), with gradients that come late (asyncWeights), or separate for each replica
// (localWeights).
type weights interface {
	// step trains on a batch. Its results have no effect before commit.
	step(ctx context.Context, o optimizerStep) (parallel.Result, error)
	// commit makes the next weights from the results of the last step. After an error that
	// wraps device.NonFinite they are unchanged, or no longer readable.
	commit(ctx context.Context, o optimizerStep, found parallel.Result) error
	// dryRun is a step without effect, with the weights of state.
	dryRun(ctx context.Context, b parallel.Batch) (parallel.Result, error)

	// state returns the whole trained state of the model.
	state(ctx context.Context) (map[string]tensor.Tensor, error)
	// snapshot returns the state that a run continues from if it loses all devices later.
	snapshot(ctx context.Context) (map[string]tensor.Tensor, error)
	// atHost reports whether the host has the state at any time, even after the loss of all devices.
	atHost() bool
	// show makes the devices ready to predict with the trained model and with the given
	// running statistics.
	show(ctx context.Context, statistics map[string]tensor.Tensor) error

	// staleness counts the late gradients. It returns nil if gradients are never late, or
	// before the first step.
	staleness() *weightsync.Staleness
	// pack adds to a checkpoint the data other than state that a resumed run needs.
	pack(k *serialize.Checkpoint)
	// restore is the inverse of pack, for a run at position p.
	restore(k *serialize.Checkpoint, p *progress.Position) error
}

// optimizerStep has the inputs of a step of the optimizer.
type optimizerStep struct {
	number int // number of the step, from 0
	batch  parallel.Batch
	hyper  device.Hyper
}

// startWeights returns the weights of a run that begins with state. The driver has this state already.
func startWeights(p *plan, d *parallel.Driver, state map[string]tensor.Tensor) weights {
	all := allReduceWeights{d}
	if span, stale := p.recipe.WeightSync.Span(); stale {
		waiting := weightsync.NewStaleGradients(p.trainedState(), p.recipe.Seed, span)
		return &asyncWeights{allReduceWeights: all, waiting: waiting}
	}
	if period, local := p.recipe.WeightSync.Period(); local {
		return &localWeights{driver: d, replicas: weightsync.NewLocalSGD(d.OneByOne(), state), period: period}
	}
	return all
}

// allReduceWeights are equal in all replicas: each update uses the sum of the gradients of its step.
type allReduceWeights struct{ driver Driver }

func (w allReduceWeights) step(ctx context.Context, o optimizerStep) (parallel.Result, error) {
	return w.driver.Step(ctx, o.batch)
}

func (w allReduceWeights) commit(ctx context.Context, o optimizerStep, _ parallel.Result) error {
	return w.driver.Commit(ctx, o.hyper)
}

func (w allReduceWeights) dryRun(ctx context.Context, b parallel.Batch) (parallel.Result, error) {
	return w.driver.Step(ctx, b)
}

func (w allReduceWeights) state(ctx context.Context) (map[string]tensor.Tensor, error) {
	return w.driver.State(ctx)
}

func (w allReduceWeights) snapshot(ctx context.Context) (map[string]tensor.Tensor, error) {
	return w.driver.Snapshot(ctx)
}

func (w allReduceWeights) atHost() bool { return false }

func (w allReduceWeights) show(ctx context.Context, statistics map[string]tensor.Tensor) error {
	return w.driver.Write(ctx, statistics)
}

func (w allReduceWeights) staleness() *weightsync.Staleness                        { return nil }
func (w allReduceWeights) pack(*serialize.Checkpoint)                              {}
func (w allReduceWeights) restore(*serialize.Checkpoint, *progress.Position) error { return nil }
