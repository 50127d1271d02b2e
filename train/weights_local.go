package train

import (
	"context"
	"fmt"
	"maps"

	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// localWeights are separate weights for each replica. They are averaged at the end of every period.
// Between two averages the trained model is the mean of the weights.
type localWeights struct {
	driver   *parallel.Driver
	replicas *weightsync.LocalSGD
	period   int // number of steps between averages
}

func (w *localWeights) step(ctx context.Context, o optimizerStep) (parallel.Result, error) {
	return w.replicas.Step(ctx, o.batch, o.hyper)
}

// commit gives all replicas their average if the step is the last of a period.
func (w *localWeights) commit(_ context.Context, o optimizerStep, _ parallel.Result) error {
	w.replicas.Commit()
	if (o.number+1)%w.period == 0 {
		w.replicas.Average()
	}
	return nil
}

func (w *localWeights) dryRun(ctx context.Context, b parallel.Batch) (parallel.Result, error) {
	return w.replicas.DryRun(ctx, b)
}

func (w *localWeights) state(context.Context) (map[string]tensor.Tensor, error) {
	return w.replicas.State(), nil
}

func (w *localWeights) snapshot(ctx context.Context) (map[string]tensor.Tensor, error) {
	return w.state(ctx)
}

func (w *localWeights) atHost() bool { return true }

// show averages the replicas for the devices, and leaves the replicas unchanged.
func (w *localWeights) show(ctx context.Context, statistics map[string]tensor.Tensor) error {
	state := w.replicas.State()
	maps.Copy(state, statistics)
	return w.driver.Write(ctx, state)
}

func (w *localWeights) staleness() *weightsync.Staleness { return nil }

// pack adds the state of the replicas to a checkpoint.
func (w *localWeights) pack(k *serialize.Checkpoint) {
	for r, replicaWeights := range w.replicas.ReplicaStates() {
		k.Sets = append(k.Sets, serialize.Set{Name: serialize.WeightSet(r), Tensors: replicaWeights})
	}
}

func (w *localWeights) restore(k *serialize.Checkpoint, p *progress.Position) error {
	since := p.Step % w.period
	if since == 0 {
		return nil
	}
	var replicaWeights []map[string]tensor.Tensor
	for r := range w.replicas.Replicas() {
		set := k.Set(serialize.WeightSet(r))
		if set == nil {
			return fmt.Errorf("checkpoint: the weights of replica %d are missing", r)
		}
		replicaWeights = append(replicaWeights, set.Tensors)
	}
	if err := w.replicas.Restore(replicaWeights, since); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}
