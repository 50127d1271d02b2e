package parallel

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
)

// Step runs the training function on a batch. The gradients stay on the devices until Commit. If a
// device is lost, the other devices take over its replicas.
func (d *Driver) Step(ctx context.Context, b Batch) (Result, error) {
	if d.keepsLedger() {
		b = b.Clone() // the caller reuses the batch, and the step may have to be repeated
	}
	d.ledger.Batch = b
	r, err := d.runToEnd(ctx, d.program.current.Function(graph.Train), b)
	d.stepped = err == nil
	return r, err
}

// Moments runs the function step.Estimate on a batch: the result has moments only.
func (d *Driver) Moments(ctx context.Context, b Batch) (Result, error) {
	r, err := d.runToEnd(ctx, d.program.current.Function(step.Estimate), b)
	if err == nil {
		d.recovery.progressed()
	}
	return r, err
}

// runToEnd runs f on a batch, and repeats it without the lost devices until it succeeds.
func (d *Driver) runToEnd(ctx context.Context, f *graph.Function, b Batch) (Result, error) {
	if d.ranks != nil {
		return d.runOverRanks(ctx, f, b)
	}
	for {
		outs, t, err := d.run(ctx, f, b)
		if err == nil {
			err = d.audit(ctx, f, b, outs)
		}
		if err == nil {
			d.retained = f.Name == graph.Train
			return step.ResultOf(f, outs, t), nil
		}
		if err := d.recovery.after(ctx, err); err != nil {
			return Result{}, err
		}
	}
}

// run runs f once on all members. If one fails, the others are called off.
func (d *Driver) run(ctx context.Context, f *graph.Function, b Batch) ([]device.Outcome, Timing, error) {
	if err := d.begin(ctx); err != nil {
		return nil, Timing{}, err
	}
	d.beginAudit(f, b)
	outs := make([]device.Outcome, len(d.group.members))
	err := d.group.runTogether(func(rank int, m *member, _ *watchdog) error {
		out, err := m.exe.Run(ctx, b.On(m.replicas, f, d.group.runs))
		if err != nil {
			return err
		}
		m.steps++
		m.pace.add(f, b, m.replicas, out)
		outs[rank] = out
		return nil
	})
	var t Timing
	for _, o := range outs {
		t.Took += o.Took / time.Duration(len(outs))
		t.Blocked += o.Blocked / time.Duration(len(outs))
	}
	return outs, t, err
}

// begin prepares the group for the next run.
func (d *Driver) begin(ctx context.Context) error {
	if err := d.recovery.ready(ctx); err != nil {
		return err
	}
	d.group.runs++
	return nil
}
