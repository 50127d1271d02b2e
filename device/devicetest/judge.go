package devicetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Result is the result of a case.
type Result struct {
	Case      Case
	Precision string     // the precision of the devices that the case opened
	Lacks     []graph.Op // operations of the case that the device lacks, and refused as it may
	Refused   []graph.Op // operations that the device has, but with nodes that it refused, as it may
	Err       error      // nil: passed
	Took      time.Duration
}

// Rule returns the rule that the device broke, or else the rule that the case checks. A device
// that was lost or did not answer broke the rule that forbids this.
func (r Result) Rule() string {
	var broken interface{ Rule() string }
	switch {
	case errors.As(r.Err, &broken):
		return broken.Rule()
	case errors.Is(r.Err, device.Lost):
		return lostRule
	}
	return r.Case.Rule
}

// Advice suggests how the author of the device should correct the error.
func (r Result) Advice() string {
	if r.Rule() == r.Case.Rule {
		return r.Case.Advice()
	}
	return "look at what the error says that it sent, or kept, and at its last words; a debugger helps " +
		"(docs/plugins.md, Debugging)"
}

// Report has the results of all cases.
type Report struct {
	Results []Result
	Stopped string // why some cases were not run, for example a repeated loss of the device; "" if all were run
}

// Failed returns the results of cases that failed.
func (r Report) Failed() []Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(x Result) bool { return x.Err == nil })
}

// Lacks returns the operations that the device does not have, in the order of
// their numbers.
func (r Report) Lacks() []graph.Op {
	var ops []graph.Op
	for _, x := range r.Results {
		ops = append(ops, x.Lacks...)
	}
	slices.Sort(ops)
	return slices.Compact(ops)
}

// Judge runs all cases on devices opened by open, at each precision that the devices
// have. done, if not nil, is called after every case. Judge returns an error, and no report,
// if no device could be opened or ctx ended.
func Judge(ctx context.Context, open Opener, done func(Result)) (Report, error) {
	return JudgeSome(ctx, open, Cases(), done)
}

// JudgeSome is like Judge but with some of the cases, for the development of a device. A device keeps
// the contract only if it passes all cases. For an operation that the device lacks, only the
// first case runs, and checks that the operation is refused. Cases of classes that the device
// does not claim do not run.
func JudgeSome(ctx context.Context, open Opener, cases []Case, done func(Result)) (Report, error) {
	j := newJudging(ctx, open)
	defer j.lender.end()
	info, err := infoOf(ctx, j.lender.device)
	if err != nil {
		return Report{}, err
	}
	err = j.runAll(ctx, info, cases, done)
	return j.report, err
}

func infoOf(ctx context.Context, open Opener) (device.Info, error) {
	d, err := open.device(ctx)
	if err != nil {
		return device.Info{}, err
	}
	defer d.Close()
	return d.Info(), nil
}

// Judge runs one case on devices opened by open, at one precision.
func (c Case) Judge(ctx context.Context, open Opener, precision string) Result {
	ctx = withPrecision(ctx, precision)
	info, err := infoOf(ctx, open)
	if err != nil {
		return Result{Case: c, Precision: precision, Err: err}
	}
	return c.judge(ctx, open.timely(&clock{limit: callLimit(ctx)}), info.Ops)
}

// lacks returns the operations of a case that a device does not have.
func (c Case) lacks(have []graph.Op) (lacks []graph.Op) {
	for _, o := range c.Ops {
		if !slices.Contains(have, o) {
			lacks = append(lacks, o)
		}
	}
	return lacks
}

// judge runs one case. If the device lacks operations of the case, judge checks that the
// program is refused.
func (c Case) judge(ctx context.Context, open Opener, have []graph.Op) Result {
	r := Result{Case: c, Precision: precisionOf(ctx), Lacks: c.lacks(have)}
	run := c.Run
	if len(r.Lacks) > 0 {
		run = func(ctx context.Context, open Opener) error { return c.refused(ctx, open, r.Lacks) }
	}
	start := time.Now()
	r.Err = bounded(ctx, func(ctx context.Context) error { return run(ctx, open) })
	r.Took = time.Since(start)
	r.excuse()
	return r
}

// errHangs is the error of a case that does not end.
var errHangs = errors.New("hangs")

// bounded runs f. If f hangs, bounded returns without waiting for it. A panic of f becomes an error.
func bounded(ctx context.Context, f func(context.Context) error) error {
	patience := patienceOf(ctx)
	ctx, cancel := withLimit(ctx, patience)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		done <- f(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience / 4):
		return fmt.Errorf("%w: no answer %v after its context ended", errHangs, patience/4)
	}
}

// testPatience is the patience in Go tests. It is long because devices are slow on a busy machine.
const testPatience = 20 * time.Minute

// Run runs all cases as subtests of t, at each precision that the devices have.
// An operation that the device lacks is an error unless it is in lacks.
func Run(t *testing.T, open Opener, lacks ...graph.Op) {
	t.Helper()
	RunSome(t, open, nil, Cases(), lacks...)
}

// RunSome is like Run but with some of the cases. Cases of a class that the devices do not claim do not run.
// Unless r is nil, the devices of a group exchange data through r, without the host. As in Judge, one
// device serves many cases.
func RunSome(t *testing.T, open Opener, r device.Rendezvous, cases []Case, lacks ...graph.Op) {
	t.Helper()
	info, err := infoOf(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	cases = claimed(cases, info)
	for _, precision := range precisions(info) {
		t.Run(precision, func(t *testing.T) {
			ctx := withPrecision(WithRendezvous(WithPatience(t.Context(), testPatience), r), precision)
			j := newJudging(ctx, open)
			defer j.lender.end()
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					if x, ran := j.judge(ctx, c, info.Ops); ran {
						x.tell(t, lacks)
					}
				})
			}
		})
	}
}

// tell reports the faults of a result as errors of t.
func (r Result) tell(t *testing.T, lacks []graph.Op) {
	if r.Err != nil {
		t.Errorf("%v\nrule: %s", r.Err, r.Rule())
	}
	for _, o := range slices.Concat(r.Lacks, r.Refused) {
		if !slices.Contains(lacks, o) {
			t.Errorf("the device lacks %v", o)
		}
	}
}
