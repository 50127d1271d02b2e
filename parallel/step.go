package parallel

import (
	"context"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Rows of a batch are in the order of the replicas. A member has neighbouring replicas, so
// its share is one slice of every input:
//
//	Sizes    3     3     2     2          replicas 1 and 2 on one member:
//	rows   | 0 1 2 | 3 4 5 | 6 7 | 8 9 |  rows [3, 8), device.Step.Rows = 3, 2

// Batch is the input of one step: the rows of all replicas in replica order.
type Batch struct {
	Rows    map[string]tensor.Tensor // rows inputs of the function by name
	Inverse float32                  // 1/denominator of the loss
	Sizes   []int                    // rows of each replica
	// Inverses is 1/denominator for the rows of each replica, 0 if no row counts. Used by
	// LocalSGD.
	Inverses []float32
	// Waited is the time that this rank waited for the batch. RankStats reports it to all
	// ranks.
	Waited time.Duration
}

// Step runs the training function on a batch. The gradients stay on the devices until
// Commit. The other devices take over the replicas of a lost one.
func (d *Driver) Step(ctx context.Context, b Batch) (Result, error) {
	if d.keepsLedger() {
		b = b.Clone() // the caller reuses it, and the step may have to be repeated
	}
	d.ledger.batch = b
	r, err := d.runToEnd(ctx, d.program.current.Function(graph.Train), b)
	d.stepped = err == nil
	return r, err
}

// Moments runs the function Estimate on a batch: the result has moments only.
func (d *Driver) Moments(ctx context.Context, b Batch) (Result, error) {
	r, err := d.runToEnd(ctx, d.program.current.Function(Estimate), b)
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
			return resultOf(f, outs, t), nil
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
		out, err := m.exe.Run(ctx, b.step(f, d.group.runs, m.replicas))
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

// step returns the step of run number run with the rows of consecutive replicas of b.
func (b Batch) step(f *graph.Function, run uint64, replicas []int) device.Step {
	s := device.Step{Function: f.Name, Number: run}
	from := 0
	if len(replicas) > 0 {
		for _, n := range b.Sizes[:replicas[0]] {
			from += n
		}
		s.Rows = slices.Clone(b.Sizes[replicas[0] : replicas[0]+len(replicas)])
	}
	to := from
	for _, n := range s.Rows {
		to += n
	}
	for _, v := range f.Inputs {
		name := f.Values[v].Name
		if name == InputInverse {
			s.Inputs = append(s.Inputs, tensor.Scalar(b.Inverse))
			continue
		}
		s.Inputs = append(s.Inputs, b.Rows[name].Rows(from, to))
	}
	return s
}
