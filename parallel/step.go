package parallel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Batch is the input of one step: the rows of all replicas in replica order.
type Batch struct {
	Rows    map[string]tensor.Tensor // rows inputs of the function by name
	Inverse float32                  // 1/denominator of the loss
	Sizes   []int                    // rows of each replica
	// Inverses is 1/denominator of each replica's own rows: for a Local.
	Inverses []float32
	// Waited is how long this rank has waited for it: what others hear of.
	Waited time.Duration
}

// Result is what a step yields.
type Result struct {
	Loss    float64         // sum of cross-entropies over the batch
	Correct float64         // labels met
	Counted float64         // labels that are not ignored
	Moments []tensor.Tensor // per tracked batch norm, in graph order: f64 [R, 1+2C]
	// Gradients are those of the trained tensors, f32 [R, ...], with Loss.Apart.
	Gradients []tensor.Tensor
	Timing    Timing
	// Stop: the context of some rank has ended. With peers a step is not left
	// undone for that: all ranks stop after the same one.
	Stop bool
	// Ranks is what each rank has done; nil without peers.
	Ranks []Share
}

// Step runs the training function on a batch. The gradients stay on the
// devices until Commit. Lost devices are replaced by the others.
func (d *Driver) Step(ctx context.Context, b Batch) (Result, error) {
	if d.keepsLedger() {
		b = b.Clone() // the caller reuses it, and the step may have to be repeated
	}
	d.ledger.batch = b
	r, err := d.runToEnd(ctx, d.group.program.Function(graph.Train), b)
	d.stepped = err == nil
	return r, err
}

// Moments runs the function Estimate on a batch: the result has moments only.
func (d *Driver) Moments(ctx context.Context, b Batch) (Result, error) {
	r, err := d.runToEnd(ctx, d.group.program.Function(Estimate), b)
	if err == nil {
		d.group.progressed()
	}
	return r, err
}

// runToEnd runs f on a batch, again and again without the devices that are lost.
func (d *Driver) runToEnd(ctx context.Context, f *graph.Function, b Batch) (Result, error) {
	if d.group.config.Peers != nil {
		return d.runOverRanks(ctx, f, b)
	}
	for {
		outs, t, err := d.run(ctx, f, b)
		if err == nil {
			d.kept = f.Name == graph.Train
			return d.result(f, outs, t), nil
		}
		if err := d.group.recover(ctx, err); err != nil {
			return Result{}, err
		}
	}
}

// run runs f once on all members. When one fails the others are called off.
func (d *Driver) run(ctx context.Context, f *graph.Function, b Batch) ([]device.Outcome, Timing, error) {
	if err := d.begin(ctx); err != nil {
		return nil, Timing{}, err
	}
	outs := make([]device.Outcome, len(d.group.members))
	err := d.group.runTogether(func(rank int, m *member, _ *watch) error {
		out, err := m.exe.Run(ctx, d.step(f, b, m.replicas))
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

// begin makes the group ready for the next run.
func (d *Driver) begin(ctx context.Context) error {
	if err := d.group.ready(ctx); err != nil {
		return err
	}
	d.runs++
	return nil
}

// step cuts the share of replicas, which follow each other, out of a batch.
func (d *Driver) step(f *graph.Function, b Batch, replicas []int) device.Step {
	s := device.Step{Function: f.Name, Number: d.runs}
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

// result puts the members' outputs together: whole ones are the same
// everywhere, replica outputs follow each other in replica order.
func (d *Driver) result(f *graph.Function, outs []device.Outcome, t Timing) Result {
	r := Result{Timing: t}
	i := 0
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		switch whole := outs[0].Outputs[i]; {
		case o.Name == OutputLoss:
			r.Loss = whole.F64()[0]
		case o.Name == OutputHits:
			r.Correct, r.Counted = whole.F64()[0], whole.F64()[1]
		case strings.HasPrefix(o.Name, gradientPrefix):
			r.Gradients = append(r.Gradients, concat(outs, i))
		default:
			r.Moments = append(r.Moments, concat(outs, i))
		}
		i++
	}
	return r
}

// concat joins output i of all members along its leading axis.
func concat(outs []device.Outcome, i int) tensor.Tensor {
	shape := slices.Clone(outs[0].Outputs[i].Shape)
	shape[0] = 0
	var bytes []byte
	for _, o := range outs {
		shape[0] += o.Outputs[i].Shape[0]
		bytes = append(bytes, o.Outputs[i].Bytes...)
	}
	out := tensor.New(outs[0].Outputs[i].DType, shape...)
	copy(out.Bytes, bytes)
	return out
}

// regrouped: not all members have what the last Step kept.
func (d *Driver) regrouped() { d.kept = false }

// commit is Commit but for what it finds out afterwards.
func (d *Driver) commit(ctx context.Context, b *broadcast, h device.Hyper) error {
	for {
		if d.stepped && !d.kept { // those who did were lost, at a Write before, or here
			if d.group.config.Peers != nil {
				return fmt.Errorf("the gradients of step %d were lost on this rank: %w", d.version+1, NoDevices)
			}
			if _, err := d.runToEnd(ctx, d.group.program.Function(graph.Train), d.ledger.batch); err != nil {
				return err
			}
		}
		err := d.update(ctx, b, h)
		if err == nil {
			break
		}
		if err := d.group.replaceLost(ctx, err); isEmptied(err) {
			break // the other ranks have the new version, and send it to the next device here
		} else if err != nil {
			return err
		}
	}
	d.version++
	d.stepped, d.kept = false, false
	if d.keepsLedger() {
		d.ledger.commit(h)
	}
	return nil
}

// update makes the next version on every device: each for itself, or one for all.
func (d *Driver) update(ctx context.Context, b *broadcast, h device.Hyper) error {
	if len(d.group.members) == 0 {
		return nil // a rank without a device: the next one gets the state of another
	}
	if d.group.config.Template || d.drifts() || b.state != nil {
		return b.run(ctx, h)
	}
	return d.group.eachAlone(func(_ int, m *member) error { return m.commit(ctx, d.version, h) })
}
