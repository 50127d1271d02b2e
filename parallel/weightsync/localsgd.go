package weightsync

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// In local SGD a device runs one replica after the other, each with the replica's weights. The average
// of the weights is the model.
//
//	replica 0   w ---step--- w0 ---step--- w0' \
//	replica 1   w ---step--- w1 ---step--- w1'  +--> average = w of the next period
//	replica 2   w ---step--- w2 ---step--- w2' /

// LocalSGD holds the replicas for weightsync.Sync "periodic:K". Each replica trains separate weights on
// its rows, and at intervals all of them are set to their average (local SGD). The host keeps the state
// of each replica, and writes it to a device for a step. So a lost device does not lose any state, and
// only the replicas that it had not finished are repeated.
type LocalSGD struct {
	devices Devices
	changed []string                   // the tensors that an update changes
	common  map[string]tensor.Tensor   // initial state
	states  []map[string]tensor.Tensor // separate weights, by replica
	steps   int                        // steps since all replicas had the same weights
	mean    map[string]tensor.Tensor   // average of states; nil until it is needed
	next    []advanced                 // results of the last Step, by replica
}

// NewLocalSGD returns replicas that all have the same state.
func NewLocalSGD(d Devices, state map[string]tensor.Tensor) *LocalSGD {
	l := &LocalSGD{devices: d, common: step.WithZeros(d.Program(), state)}
	for _, u := range d.Program().Function(graph.Commit).Updates {
		l.changed = append(l.changed, u.State)
	}
	l.states = make([]map[string]tensor.Tensor, d.Replicas())
	l.assign(l.changedOf(l.common))
	return l
}

// changedOf returns the tensors that are separate for each replica.
func (l *LocalSGD) changedOf(state map[string]tensor.Tensor) map[string]tensor.Tensor {
	replicaTensors := make(map[string]tensor.Tensor, len(l.changed))
	for _, name := range l.changed {
		replicaTensors[name] = state[name]
	}
	return replicaTensors
}

// assign gives every replica the same state.
func (l *LocalSGD) assign(replicaTensors map[string]tensor.Tensor) {
	l.mean, l.steps = replicaTensors, 0
	l.states = make([]map[string]tensor.Tensor, len(l.states))
	for r := range l.states {
		l.states[r] = replicaTensors
	}
}

// Step trains every replica on its rows. b.Inverses has 1/denominator of the loss of each replica. The
// new states are used after Commit. A replica without rows does not change.
func (l *LocalSGD) Step(ctx context.Context, b step.Batch, h device.Hyper) (step.Result, error) {
	return l.run(ctx, b, l.states, h)
}

// DryRun runs the training function with the average of all replicas and changes nothing.
func (l *LocalSGD) DryRun(ctx context.Context, b step.Batch) (step.Result, error) {
	states := make([]map[string]tensor.Tensor, len(l.states))
	for r := range states {
		states[r] = l.average()
	}
	return l.run(ctx, b, states, nil)
}

// Commit makes the results of the last Step the state of the replicas.
func (l *LocalSGD) Commit() {
	for r, n := range l.next {
		l.states[r] = n.state
	}
	l.next, l.mean = nil, nil
	l.steps++
}

// Average replaces every replica's state by the average of all replicas.
func (l *LocalSGD) Average() { l.assign(l.average()) }

// Replicas returns the number of replicas.
func (l *LocalSGD) Replicas() int { return len(l.states) }

// State returns all state with the average of the replicas, which is the trained model. It
// does not use a device.
func (l *LocalSGD) State() map[string]tensor.Tensor {
	state := maps.Clone(l.common)
	maps.Copy(state, l.average())
	return state
}

// ReplicaStates returns the separate tensors of each replica; nil if all are the same.
func (l *LocalSGD) ReplicaStates() []map[string]tensor.Tensor {
	if l.steps == 0 {
		return nil
	}
	return slices.Clone(l.states)
}

// Restore gives the replicas the states that ReplicaStates returned; since is the number of
// steps since all had the same weights.
func (l *LocalSGD) Restore(replicaTensors []map[string]tensor.Tensor, since int) error {
	if len(replicaTensors) != len(l.states) {
		return fmt.Errorf("weights of %d replicas, there are %d", len(replicaTensors), len(l.states))
	}
	for r, state := range replicaTensors {
		if len(state) != len(l.changed) {
			return fmt.Errorf("replica %d has %d tensors of its own, want %d", r, len(state), len(l.changed))
		}
		for _, name := range l.changed {
			if t, want := state[name], l.common[name]; t.DType != want.DType || !slices.Equal(t.Shape, want.Shape) {
				return fmt.Errorf("replica %d has %s as %v, want %v", r, name, t, want)
			}
		}
	}
	l.states, l.steps, l.mean = slices.Clone(replicaTensors), since, nil
	return nil
}

// average returns the mean of the replicas' tensors. A tensor is summed in float64 along the canonical
// tree, then divided and rounded once. Replicas without rows count like all others.
func (l *LocalSGD) average() map[string]tensor.Tensor {
	if l.mean != nil {
		return l.mean
	}
	l.mean = make(map[string]tensor.Tensor, len(l.changed))
	for _, name := range l.changed {
		sum := collective.Reduce(collective.Sum, collective.Root(len(l.states)), func(r int) tensor.Tensor {
			return widened(l.states[r][name])
		}).F64()
		mean := tensor.New(tensor.F32, l.common[name].Shape...)
		for i, v := range sum {
			mean.F32()[i] = float32(v / float64(len(l.states)))
		}
		l.mean[name] = mean
	}
	return l.mean
}

// widened returns a float32 tensor in float64.
func widened(t tensor.Tensor) tensor.Tensor {
	doubles := tensor.New(tensor.F64, t.Shape...)
	to := doubles.F64()
	for i, v := range t.F32() {
		to[i] = float64(v)
	}
	return doubles
}
