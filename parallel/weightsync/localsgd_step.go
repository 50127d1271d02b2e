package weightsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// A device runs one replica at a time: the replica's weights are written to it, it runs and
// commits, and the result is read. Replicas that were done before a device was lost are not
// repeated.

// Devices run replicas with separate weights. Method OneByOne of a parallel.Driver returns the devices of
// the driver.
type Devices interface {
	// Program returns the program of the devices.
	Program() *graph.Program
	// Replicas returns the number of replicas.
	Replicas() int
	// Devices returns the number of devices.
	Devices() int
	// Each calls f for every replica of which done is false, with the device that holds the replica. The
	// devices run at once, and each runs its replicas one after the other. If a device is lost, Each
	// continues with the replicas that are not done, on other devices.
	Each(ctx context.Context, done func(r int) bool, f func(d Device, r int) error) error
}

// Device runs one replica at a time.
type Device interface {
	// Write sets state tensors.
	Write(ctx context.Context, state map[string]tensor.Tensor) error
	// Train runs the training function on the rows of a replica.
	Train(ctx context.Context, b step.Batch, r int) (device.Outcome, error)
	// Update commits and returns the tensors that the commit changes. An update that is not finite is an
	// error that wraps device.NonFinite.
	Update(ctx context.Context, h device.Hyper) (map[string]tensor.Tensor, error)
}

// advanced is the state of a replica after a step.
type advanced struct {
	done    bool
	outcome device.Outcome
	state   map[string]tensor.Tensor
}

// run runs the training function for every replica with its state, and updates that state
// unless h is nil.
func (l *LocalSGD) run(ctx context.Context, b step.Batch, states []map[string]tensor.Tensor, h device.Hyper) (
	step.Result, error) {
	all := make([]advanced, len(states))
	for r, rows := range b.Sizes {
		if rows == 0 || b.Inverses[r] == 0 { // all rows of the replica are ignored
			all[r] = advanced{true, l.nothing(), states[r]}
		}
	}
	done := func(r int) bool { return all[r].done }
	err := l.devices.Each(ctx, done, func(d Device, r int) (err error) {
		all[r], err = advance(ctx, d, r, b, states[r], h)
		return err
	})
	if err != nil {
		return step.Result{}, err
	}
	if h != nil {
		l.next = all
	}
	return l.result(all), nil
}

// advance makes one step of replica r on a device: it writes the replica's state to the device and
// reads the updated state back. An update does not stop halfway when ctx ends.
func advance(ctx context.Context, d Device, r int, b step.Batch, state map[string]tensor.Tensor,
	h device.Hyper) (a advanced, err error) {
	if err := d.Write(ctx, state); err != nil {
		return a, err
	}
	b.Inverse = b.Inverses[r]
	if a.outcome, err = d.Train(ctx, b, r); err != nil {
		return a, err
	}
	if h != nil {
		a.state, err = d.Update(context.WithoutCancel(ctx), h)
		if errors.Is(err, device.NonFinite) {
			err = fmt.Errorf("replica %d: %w", r, err)
		}
	}
	a.done = err == nil
	return a, err
}

// nothing is the outcome of a replica without rows.
func (l *LocalSGD) nothing() device.Outcome {
	var o device.Outcome
	f := l.devices.Program().Function(graph.Train)
	for _, out := range f.Outputs {
		t := f.Values[out.Value].Type
		switch {
		case out.Keep:
		case t.Kind == graph.Replica:
			o.Outputs = append(o.Outputs, tensor.New(t.DType, append([]int{1}, t.Shape...)...))
		default:
			o.Outputs = append(o.Outputs, tensor.New(t.DType, t.Shape...))
		}
	}
	return o
}

// result joins the outcomes of all replicas, with sums along the canonical tree.
func (l *LocalSGD) result(all []advanced) step.Result {
	f := l.devices.Program().Function(graph.Train)
	var outs []device.Outcome
	var t step.Timing
	for _, a := range all {
		outs = append(outs, a.outcome)
		t.Took += a.outcome.Took / time.Duration(l.devices.Devices())
	}
	sums := collective.Reduce(collective.Sum, collective.Root(len(outs)), func(r int) tensor.Tensor {
		one := step.ResultOf(f, outs[r:r+1], step.Timing{})
		return tensor.Of([]float64{one.Loss, one.Correct, one.Counted}, 3)
	}).F64()
	result := step.ResultOf(f, outs, t)
	result.Loss, result.Correct, result.Counted = sums[0], sums[1], sums[2]
	return result
}
