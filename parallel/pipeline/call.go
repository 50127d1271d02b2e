package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// The package comment has the states of a call.

// Step runs the training function on a batch. The gradients stay on the devices until Commit.
func (s *Trainer) Step(ctx context.Context, b step.Batch) (step.Result, error) {
	if s.config.Reopens {
		b = b.Clone()
	}
	s.stepped, s.lacking, s.ledger.Batch = false, false, b
	r, err := s.step(ctx, b)
	s.stepped = err == nil
	return r, err
}

func (s *Trainer) step(ctx context.Context, b step.Batch) (step.Result, error) {
	r, err := s.untilDone(ctx, b, passes{graph.Forward, graph.Backward, graph.Reduce})
	if err == nil {
		for _, d := range s.predictor.stages {
			d.Retain()
		}
		s.lacking = false
	}
	return r, err
}

// Moments runs the function step.Estimate on a batch: the result has moments only.
func (s *Trainer) Moments(ctx context.Context, b step.Batch) (step.Result, error) {
	return s.untilDone(ctx, b, passes{forward: step.Estimate})
}

// passes are the names of the functions of a flow. A name is "" if the flow does not have that
// function.
type passes struct{ forward, backward, reduce string }

// untilDone runs a batch, and repeats it without the lost devices until it succeeds.
func (s *Trainer) untilDone(ctx context.Context, b step.Batch, p passes) (_ step.Result, err error) {
	outer := s.begin()
	defer func() { s.end(outer, err) }()
	stop := ctx.Err() != nil
	if s.ranks != nil {
		ctx = context.WithoutCancel(ctx) // all ranks stop together
	}
	for {
		f, err := s.attempt(ctx, b, p)
		mine := s.reportOf(p.forward, f == nil)
		outputs := map[string]tensor.Tensor{}
		if f != nil {
			outputs = f.results
		}
		if mine.Stop = stop; f != nil && s.ranks != nil {
			mine.Worked, mine.RankStats = f.workedIn(), s.ranks.statsOf(b, f.timing())
		}
		all, again, err := s.conclude(ctx, mine, err, outputs)
		if err != nil {
			return step.Result{}, err
		}
		if !again {
			s.account(f, all)
			return f.result(all), nil
		}
	}
}

// attempt runs a batch once. The flow is nil if it did not finish; without an error, the
// stages of this rank are then ready to run again.
func (s *Trainer) attempt(ctx context.Context, b step.Batch, p passes) (*flow, error) {
	of, err, runs := 0, error(nil), make([]uint64, len(s.predictor.stages))
	for i, d := range s.predictor.stages {
		of = i
		if runs[i], err = d.Begin(ctx); err != nil { // a device was lost while another came back
			break
		}
	}
	if err == nil && !s.restarted() {
		f := newFlow(s, b, p, runs)
		if of, err = f.run(ctx); err == nil {
			return f, nil
		}
	}
	if s.ranks != nil {
		if off := s.ranks.callOff(ctx, cmp.Or(err, errWentBack)); off != nil {
			return nil, errors.Join(err, off)
		}
	}
	if err == nil || isElsewhere(err) {
		return nil, nil
	}
	s.enter(recovering)
	return nil, s.predictor.stages[of].Recover(ctx, err)
}

// errWentBack is the error with which other ranks are asked to run again.
var errWentBack = errors.New("a stage went back")

// restarted reports whether a stage of this process is back at the snapshot of the ledger.
func (s *Trainer) restarted() bool {
	return slices.ContainsFunc(s.predictor.stages, Stage.Restarted)
}

// lacks reports whether a stage of this process lacks the gradients of the last step
// because a device has joined.
func (s *Trainer) lacks() bool {
	return slices.ContainsFunc(s.predictor.stages, func(d Stage) bool {
		return d.Version() == s.version && !d.Retains()
	})
}

// reportOf returns the report of a call; retry requests that the call be repeated.
func (s *Trainer) reportOf(call string, retry bool) stageReport {
	return stageReport{Of: fmt.Sprintf("%s of version %d", call, s.version), Retry: retry}
}

// conclude prepares the stages of all ranks for the next call, after a call that ended with err in
// this process. again reports whether the call must be repeated: a rank requests it, or stages went
// back to the snapshot of the ledger and from there to the present. outputs holds the outputs of
// the call in this process; conclude adds the outputs of the other ranks. It returns the reports of
// all ranks.
func (s *Trainer) conclude(ctx context.Context, mine stageReport, err error,
	outputs map[string]tensor.Tensor) (all []stageReport, again bool, _ error) {
	s.enter(concluding)
	all, again, err = s.outcome(ctx, mine, err, outputs)
	switch {
	case err != nil:
		s.enter(failed)
	case again:
		s.enter(attempting)
	default:
		s.enter(ready)
	}
	return all, again, err
}

// outcome does the work of conclude, without entering the next state.
func (s *Trainer) outcome(ctx context.Context, mine stageReport, err error,
	outputs map[string]tensor.Tensor) (all []stageReport, again bool, _ error) {
	err = s.resolve(ctx, err)
	again, s.rolledBack = mine.Retry, s.restarted()
	if s.rolledBack && !errors.Is(err, step.NoDevices) {
		err = nil // the call will be repeated
	}
	if s.ranks != nil {
		mine.Restarted, mine.Lacking = s.rolledBack, s.stepped && s.lacks()
		if all, err = s.agree(ctx, mine, err, outputs); err != nil {
			return nil, false, err
		}
		for _, r := range all {
			again, s.rolledBack, s.lacking = again || r.Retry, s.rolledBack || r.Restarted, s.lacking || r.Lacking
		}
	}
	if err != nil {
		return nil, false, err
	}
	went, err := s.rollBack(ctx)
	return all, again || went, err
}

// result joins the outputs of the stages, with moments in the order of the whole function.
func (f *flow) result(reports []stageReport) step.Result {
	r := step.Result{Timing: f.timing()}
	for _, rank := range reports {
		r.Stop, r.Ranks = r.Stop || rank.Stop, append(r.Ranks, rank.RankStats)
	}
	whole := f.trainer.program.Function(graph.Train)
	if f.passes.backward == "" {
		whole = f.trainer.program.Function(f.passes.forward)
	}
	for _, o := range whole.Outputs {
		t, ok := f.results[o.Name]
		switch {
		case !ok || r.Set(o.Name, t):
		case strings.HasPrefix(o.Name, step.MomentsPrefix):
			r.Moments = append(r.Moments, t)
		}
	}
	return r
}

// account adds the time of a step by device and by stage. A device that did not compute was waiting
// for others, or for values that cross. The first step is slower, because devices allocate their
// memory in it. Its time counts only until there is another step.
func (s *Trainer) account(f *flow, reports []stageReport) {
	if f.passes.backward == "" {
		return
	}
	if s.steps > 0 && s.cold {
		s.forgetTimes()
		s.cold = false
	}
	s.stepping, s.steps = s.stepping+f.took, s.steps+1
	for _, columns := range f.columns {
		for _, m := range columns {
			m.Account(f.took, f.took-f.worked[m])
		}
	}
	worked := f.workedIn()
	if s.ranks != nil {
		worked = nil
		for _, rank := range reports {
			worked = append(worked, rank.Worked...)
		}
	}
	for i := range min(len(worked), len(s.worked)) {
		s.worked[i] += worked[i]
		s.plan.Stages[i].Waited = 1 - s.worked[i].Seconds()/s.stepping.Seconds()
	}
}

// workedIn returns the working time of each stage of this process, the mean over its
// devices.
func (f *flow) workedIn() (times []time.Duration) {
	for _, columns := range f.columns {
		worked := time.Duration(0)
		for _, m := range columns {
			worked += f.worked[m] / time.Duration(len(columns))
		}
		times = append(times, worked)
	}
	return times
}

// timing returns the time of the flow, as the mean over the devices.
func (f *flow) timing() step.Timing {
	t := step.Timing{Took: f.took}
	for _, worked := range f.worked {
		t.Blocked += (f.took - worked) / time.Duration(len(f.worked))
	}
	return t
}

// collect stores an output that stays in its stage.
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

// Commit makes the next version of the state from the gradients of the last step. It does not stop halfway
// when ctx ends. If the update is not finite, the error wraps device.NonFinite, and the state is lost.
func (s *Trainer) Commit(ctx context.Context, h device.Hyper) (err error) {
	outer := s.begin()
	defer func() { s.end(outer, err) }()
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	for {
		final, again, err := s.readyToCommit(ctx, h)
		if err == nil && !again {
			_, again, err = s.conclude(ctx, s.reportOf("a commit", false), s.commit(ctx, final), nil)
		}
		if err != nil {
			if errors.Is(err, device.NonFinite) {
				s.err = err
			}
			return err
		}
		if !again {
			break
		}
	}
	s.updating += time.Since(began)
	s.plan.Took = (s.stepping + s.updating).Seconds() / float64(max(s.steps, 1))
	s.version++
	s.stepped = false
	if s.config.Reopens {
		s.ledger.Commit(h)
	}
	return nil
}

// readyToCommit makes every stage ready for a commit and returns the final hyper-parameters. All
// ranks have the same outcome. again reports that the stages went back to the snapshot meanwhile.
func (s *Trainer) readyToCommit(ctx context.Context, h device.Hyper) (_ device.Hyper, again bool, _ error) {
	if s.lacking || s.ranks == nil && s.lacks() { // a new device lacks the gradients
		if _, err := s.step(ctx, s.ledger.Batch); err != nil {
			return nil, false, err
		}
	}
	return s.clipped(ctx, h)
}

// commit commits the stages of this process that have not committed yet.
func (s *Trainer) commit(ctx context.Context, h device.Hyper) error {
	return s.each(func(_ int, d Stage) error {
		if d.Version() != s.version {
			return nil // already committed
		}
		if d.Program().Function(graph.Commit) == nil { // the layers of this stage are not trained
			d.Skip()
			return nil
		}
		return d.Commit(ctx, h)
	})
}

// clipped adds the factor of gradient clipping to the hyper-parameters. It is computed from the sum
// of the squares of all stages, added in the same order as on a single device.
func (s *Trainer) clipped(ctx context.Context, h device.Hyper) (_ device.Hyper, again bool, err error) {
	values := map[string]tensor.Tensor{}
	for _, name := range []string{graph.Squares, graph.Factor} {
		if !slices.ContainsFunc(s.programs, func(p *graph.Program) bool { return p.Function(name) != nil }) {
			continue
		}
		outer := s.begin()
		for _, d := range s.predictor.stages {
			f := d.Program().Function(name)
			if f == nil || d.Version() != s.version || err != nil {
				continue
			}
			err = d.Evaluate(ctx, f, values)
		}
		_, again, err = s.conclude(ctx, s.reportOf(name, false), err, values)
		if s.end(outer, err); err != nil || again {
			return nil, again, err
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
	return all, false, nil
}

// rollBack brings all stages back to the snapshot of the ledger, and from there to the present
// state. It does so if a stage has lost all of its devices, because the stage's new devices have
// the snapshot.
func (s *Trainer) rollBack(ctx context.Context) (done bool, err error) {
	if !s.rolledBack {
		return false, nil
	}
	s.enter(rollingBack)
	v, present := s.ledger.Version, s.version
	for _, d := range s.predictor.stages {
		d.RollBack(v)
	}
	outer := s.begin()
	err = s.each(func(_ int, d Stage) error { return d.Write(ctx, stateIn(d.Program(), s.ledger.State)) })
	_, again, err := s.conclude(ctx, s.reportOf("the way back", false), err, nil)
	if s.end(outer, err); again || err != nil {
		return true, err
	}
	s.enter(replaying)
	s.version = v
	entries, writes, batch, stepped := s.ledger.Entries, s.ledger.Writes, s.ledger.Batch, s.stepped
	s.ledger.Forget()
	for i, e := range entries {
		s.ledger.Writes = nil
		if err := s.Write(ctx, e.Writes); err != nil {
			return true, err
		}
		s.ledger.Batch = e.Batch
		if _, err := s.step(ctx, e.Batch); err != nil {
			return true, err
		}
		if err := s.Commit(ctx, e.Hyper); err != nil {
			return true, err
		}
		if s.version != v+device.Version(i+1) {
			break
		}
	}
	s.ledger.Writes = nil
	err = s.Write(ctx, writes)
	s.ledger.Batch, s.stepped, s.lacking = batch, stepped, stepped
	if err == nil && s.version != present {
		err = step.NoDevices
	}
	return true, err
}
