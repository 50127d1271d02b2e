package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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

// advanced is the state of a replica after a step.
type advanced struct {
	done    bool
	outcome device.Outcome
	state   map[string]tensor.Tensor
}

// run runs the training function for every replica with its state, and updates that state
// unless h is nil. Other devices replace a lost one; finished replicas are not repeated.
func (l *LocalSGD) run(ctx context.Context, b Batch, states []map[string]tensor.Tensor, h device.Hyper) (
	Result, error) {
	all := make([]advanced, len(states))
	for r, rows := range b.Sizes {
		if rows == 0 || b.Inverses[r] == 0 { // all rows of the replica are ignored
			all[r] = advanced{true, l.nothing(), states[r]}
		}
	}
	for {
		err := l.attempt(ctx, all, func(m *member, r int) (advanced, error) {
			return l.advanceOn(ctx, m, r, b, states[r], h)
		})
		if err == nil {
			break
		}
		if err := l.driver.recovery.after(ctx, err); err != nil {
			return Result{}, err
		}
	}
	if h != nil {
		l.next = all
	}
	return l.result(all), nil
}

// attempt lets every member advance its unfinished replicas, one after the other.
func (l *LocalSGD) attempt(ctx context.Context, all []advanced, advance func(*member, int) (
	advanced, error)) error {
	d := l.driver
	if err := d.begin(ctx); err != nil {
		return err
	}
	var some atomic.Bool // a replica was finished in this attempt
	defer func() {
		if some.Load() {
			d.recovery.progressed()
		}
	}()
	return d.group.runTogether(func(_ int, m *member, w *watchdog) error {
		for _, r := range m.replicas {
			if all[r].done {
				continue
			}
			a, err := advance(m, r)
			if err != nil {
				return err
			}
			all[r] = a
			w.chunksDone.Add(1)
			some.Store(true)
		}
		return nil
	})
}

// advanceOn makes one step of replica r on a member: it writes the replica's state to the
// member and reads the updated state back.
func (l *LocalSGD) advanceOn(ctx context.Context, m *member, r int, b Batch, state map[string]tensor.Tensor,
	h device.Hyper) (a advanced, err error) {
	d := l.driver
	if err := d.program.write(ctx, m, state); err != nil {
		return a, err
	}
	f := d.program.current.Function(graph.Train)
	b.Inverse = b.Inverses[r]
	if a.outcome, err = m.exe.Run(ctx, b.On([]int{r}, f, d.group.runs)); err != nil {
		return a, err
	}
	m.steps++
	m.pace.add(f, b, []int{r}, a.outcome)
	if h != nil {
		a.state, err = l.update(ctx, m, h)
		if err == nil {
			err = finiteUpdates(m, d.program.current, a.state)
		}
		if errors.Is(err, device.NonFinite) {
			err = fmt.Errorf("replica %d: %w", r, err)
		}
		if err != nil {
			return a, err
		}
	}
	a.done = true
	return a, nil
}

// update commits on a member and reads the changed tensors. It does not stop halfway when
// ctx ends.
func (l *LocalSGD) update(ctx context.Context, m *member, h device.Hyper) (map[string]tensor.Tensor, error) {
	ctx = context.WithoutCancel(ctx)
	if err := m.exe.Commit(ctx, m.updates, h); err != nil {
		return nil, err
	}
	m.updates++
	state := make(map[string]tensor.Tensor, len(l.changed))
	for _, name := range l.changed {
		t, err := m.exe.Read(ctx, name)
		if err != nil {
			return nil, err
		}
		state[name] = t
	}
	return state, nil
}

// nothing is the outcome of a replica without rows.
func (l *LocalSGD) nothing() device.Outcome {
	var o device.Outcome
	f := l.driver.program.current.Function(graph.Train)
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
func (l *LocalSGD) result(all []advanced) Result {
	f := l.driver.program.current.Function(graph.Train)
	var outs []device.Outcome
	var t Timing
	for _, a := range all {
		outs = append(outs, a.outcome)
		t.Took += a.outcome.Took / time.Duration(len(l.driver.group.members))
	}
	sums := collective.Reduce(collective.Sum, collective.Root(len(outs)), func(r int) tensor.Tensor {
		one := step.ResultOf(f, outs[r:r+1], Timing{})
		return tensor.Of([]float64{one.Loss, one.Correct, one.Counted}, 3)
	}).F64()
	result := step.ResultOf(f, outs, t)
	result.Loss, result.Correct, result.Counted = sums[0], sums[1], sums[2]
	return result
}
