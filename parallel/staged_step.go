package parallel

import (
	"context"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Step is Driver.Step.
func (s *Staged) Step(ctx context.Context, b Batch) (Result, error) {
	if s.config.Reopen != nil {
		b = b.Clone()
	}
	s.ledger.batch = b
	r, err := s.step(ctx, b)
	s.stepped = err == nil
	return r, err
}

func (s *Staged) step(ctx context.Context, b Batch) (Result, error) {
	r, err := s.untilDone(ctx, b, passes{graph.Forward, graph.Backward, graph.Reduce})
	if err == nil {
		for _, d := range s.pipeline.stages {
			d.retained = true
		}
	}
	return r, err
}

// Moments is Driver.Moments.
func (s *Staged) Moments(ctx context.Context, b Batch) (Result, error) {
	return s.untilDone(ctx, b, passes{forward: Estimate})
}

// passes are the functions of a flow; "" where there is none.
type passes struct{ forward, backward, reduce string }

// untilDone runs a batch, again and again without the devices that are lost.
func (s *Staged) untilDone(ctx context.Context, b Batch, p passes) (Result, error) {
	for {
		if again, err := s.begin(ctx); err != nil {
			return Result{}, err
		} else if again {
			continue
		}
		f := newFlow(s, b, p)
		of, err := f.run(ctx)
		s.refreshGroup()
		if err == nil {
			s.account(f)
			return f.result(), nil
		}
		if err := s.resolve(ctx, s.pipeline.stages[of].recovery.after(ctx, err)); err != nil {
			return Result{}, err
		}
		s.refreshGroup()
	}
}

// begin makes all stages ready for the next run. again: they went back, and have to be made ready once more.
func (s *Staged) begin(ctx context.Context) (again bool, err error) {
	for _, d := range s.pipeline.stages {
		if err := d.begin(ctx); err != nil { // a device was lost while another came back
			if err := s.resolve(ctx, d.recovery.after(ctx, err)); err != nil {
				return false, err
			}
			_, err := s.rollBack(ctx)
			return true, err
		}
	}
	return s.rollBack(ctx)
}

// result puts together what the stages have yielded, moments in the order of the whole
// function.
func (f *flow) result() Result {
	r := Result{Timing: f.timing()}
	whole := f.staged.program.Function(graph.Train)
	if f.passes.backward == "" {
		whole = f.staged.program.Function(f.passes.forward)
	}
	for _, o := range whole.Outputs {
		t, ok := f.results[o.Name]
		switch {
		case !ok:
		case o.Name == OutputLoss:
			r.Loss = lossIn(t.F64())
		case o.Name == OutputPartnersLoss:
			r.Loss += lossIn(t.F64())
		case o.Name == OutputHits:
			r.Correct, r.Counted = t.F64()[0], t.F64()[1]
		case strings.HasPrefix(o.Name, momentsPrefix):
			r.Moments = append(r.Moments, t)
		}
	}
	return r
}

// account counts where the time of a step went, by device and by stage: what a device did not compute
// it has waited for others, or for what crosses.
func (s *Staged) account(f *flow) {
	if f.passes.backward == "" {
		return
	}
	s.stepping += f.took
	for i, d := range s.pipeline.stages {
		for _, m := range d.group.members {
			worked := f.worked[m]
			m.pace.took, m.pace.blocked = m.pace.took+f.took, m.pace.blocked+f.took-worked
			s.worked[i] += worked / time.Duration(len(d.group.members))
		}
		s.plan.Stages[i].Waited = 1 - s.worked[i].Seconds()/s.stepping.Seconds()
	}
}

// timing returns the mean over the devices.
func (f *flow) timing() Timing {
	t := Timing{Took: f.took}
	for _, worked := range f.worked {
		t.Blocked += (f.took - worked) / time.Duration(len(f.worked))
	}
	return t
}

// collect takes an output that stays in its stage.
func (f *flow) collect(name string, k graph.Kind, t tensor.Tensor, replicas []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if k != graph.Replica {
		f.results[name] = t
		return
	}
	all, ok := f.results[name]
	if !ok { // a replica without rows has zeros
		all = tensor.New(t.DType, append([]int{len(f.batch.Sizes)}, t.Shape[1:]...)...)
		f.results[name] = all
	}
	for i, r := range replicas {
		copy(all.Rows(r, r+1).Bytes, t.Rows(i, i+1).Bytes)
	}
}

// Commit is Driver.Commit.
func (s *Staged) Commit(ctx context.Context, h device.Hyper) error {
	ctx = context.WithoutCancel(ctx)
	for {
		err := s.resolve(ctx, s.commit(ctx, h))
		again, lost := s.rollBack(ctx)
		if lost != nil {
			return lost
		}
		if again {
			continue
		}
		if err != nil {
			if device.KindOf(err) == device.NonFinite {
				s.err = err
			}
			return err
		}
		break
	}
	s.version++
	s.stepped = false
	if s.config.Reopen != nil {
		s.ledger.commit(h)
	}
	s.refreshGroup()
	return nil
}

func (s *Staged) commit(ctx context.Context, h device.Hyper) error {
	for _, d := range s.pipeline.stages {
		if d.version == s.version && !d.retained { // a member has come that lacks the gradients
			if _, err := s.step(ctx, s.ledger.batch); err != nil {
				return err
			}
			break
		}
	}
	h, err := s.clipped(ctx, h)
	if err != nil {
		return err
	}
	return s.each(func(d *Driver) error {
		if d.version != s.version {
			return nil // it has committed
		}
		if d.program.current.Function(graph.Commit) == nil { // none of its layers is trained
			d.version, d.stepped, d.retained = d.version+1, false, false
			return nil
		}
		return d.Commit(ctx, h)
	})
}

// clipped adds to the hyper-parameters the factor of gradient clipping: of the sum of the squares of
// all stages, in the order of one device.
func (s *Staged) clipped(ctx context.Context, h device.Hyper) (device.Hyper, error) {
	values := map[string]tensor.Tensor{}
	for _, name := range []string{graph.Squares, graph.Factor} {
		for _, d := range s.pipeline.stages {
			f := d.program.current.Function(name)
			if f == nil || d.version != s.version {
				continue
			}
			if err := d.evaluate(ctx, f, values); err != nil {
				return nil, err
			}
		}
	}
	all := device.Hyper{}
	for name, v := range h {
		all[name] = v
	}
	for name, t := range values {
		if t.DType == tensor.F32 {
			all[name] = t.F32()[0]
		}
	}
	return all, nil
}

// evaluate runs a function of whole values on the first member, and adds its outputs to values.
func (d *Driver) evaluate(ctx context.Context, f *graph.Function, values map[string]tensor.Tensor) error {
	for {
		m := d.group.members[0]
		step := device.Step{Function: f.Name, Number: d.group.runs}
		for _, v := range d.program.current.Given(f) {
			step.Inputs = append(step.Inputs, values[f.Values[v].Name])
		}
		var out device.Outcome
		err := d.group.timeouts.call(m, func() (err error) {
			out, err = m.exe.Run(ctx, step)
			return err
		})
		if err == nil {
			for i, o := range f.Outputs {
				values[o.Name] = out.Outputs[i]
			}
			return nil
		}
		if err := d.recovery.replaceLost(ctx, err); err != nil {
			return err
		}
	}
}

// rollBack brings all stages back to the snapshot of the ledger, and from there to the present, if one of
// them has lost all of its devices: what another one has now is that snapshot.
func (s *Staged) rollBack(ctx context.Context) (done bool, err error) {
	lost := false
	for _, d := range s.pipeline.stages {
		lost = lost || d.recovery.restarted
	}
	if !lost {
		return false, nil
	}
	v, present := s.ledger.version, s.version
	for _, d := range s.pipeline.stages {
		for _, m := range d.group.members {
			if !d.recovery.restarted {
				m.base -= d.version - v
			}
			m.written, m.verified = 0, v
		}
		d.recovery.restarted, d.version, d.stepped, d.retained = false, v, false, false
		if err := d.Write(ctx, stateIn(d.program.current, s.ledger.state)); err != nil {
			if err := s.resolve(ctx, err); err != nil {
				return true, err
			}
			return s.rollBack(ctx)
		}
	}
	s.version = v
	entries, writes, batch, stepped := s.ledger.entries, s.ledger.writes, s.ledger.batch, s.stepped
	s.ledger.entries, s.ledger.bytes = nil, 0
	for i, e := range entries {
		s.ledger.writes = nil
		if err := s.Write(ctx, e.writes); err != nil {
			return true, err
		}
		s.ledger.batch = e.batch
		if _, err := s.step(ctx, e.batch); err != nil {
			return true, err
		}
		if err := s.Commit(ctx, e.hyper); err != nil {
			return true, err
		}
		if s.version != v+device.Version(i+1) {
			break
		}
	}
	s.ledger.writes = nil
	err = s.Write(ctx, writes)
	s.ledger.batch, s.stepped = batch, stepped
	if err == nil && s.version != present {
		err = NoDevices
	}
	return true, err
}
