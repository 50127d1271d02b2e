package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// maxLosses is the number of cases that may lose a device, or fail to open one. After that many such
// cases a judgement ends, because further cases would cost time and show nothing new.
const maxLosses = 3

// lostRule is the rule that a lost device breaks.
const lostRule = "A process that dies, gives an answer that was not asked for, or makes an exchange that " +
	"its program does not have, is a lost device (docs/plugins.md)."

// judging is the state of a judgement in progress.
type judging struct {
	clock   *clock
	lender  *deviceCache
	open    Opener // opens a new device for a case
	refused map[graph.Op]bool
	losses  int
	report  Report
}

func newJudging(ctx context.Context, open Opener) *judging {
	k := &clock{limit: callLimit(ctx)}
	timely := open.timely(k)
	return &judging{clock: k, lender: &deviceCache{open: timely}, open: timely, refused: map[graph.Op]bool{}}
}

// callLimit is the time limit of a call in a case.
func callLimit(ctx context.Context) time.Duration { return patienceOf(ctx) / 4 }

// runAll runs cases at every precision of the device.
func (j *judging) runAll(ctx context.Context, info device.Info, cases []Case, done func(Result)) error {
	cases = claimed(cases, info)
	for n, precision := range precisions(info) {
		for i, c := range cases {
			if err := ctx.Err(); err != nil {
				return err
			}
			tellProgress(ctx, c, n*len(cases)+i, len(precisions(info))*len(cases))
			r, ran := j.judge(withPrecision(ctx, precision), c, info.Ops)
			if err := ctx.Err(); err != nil { // the result only shows the interruption
				return err
			}
			if !ran {
				continue
			}
			if j.report.Results = append(j.report.Results, r); done != nil {
				done(r)
			}
			if why := j.stopReason(r); why != "" {
				all := len(precisions(info)) * len(cases)
				j.report.Stopped = fmt.Sprintf("%s, and %d of %d cases were not run", why, all-n*len(cases)-i-1, all)
				return nil
			}
		}
		j.lender.drop()
		j.refused = map[graph.Op]bool{}
	}
	return nil
}

// claimed leaves out the cases of classes that a device does not claim.
func claimed(cases []Case, info device.Info) []Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c Case) bool {
		return c.class != "" && c.class != info.Kernels
	})
}

// judge runs a case. It does not run a case (ran is false) if all operations that the device lacks
// have been refused in earlier cases.
func (j *judging) judge(ctx context.Context, c Case, have []graph.Op) (r Result, ran bool) {
	lacks := c.lacks(have)
	known := func(o graph.Op) bool { return j.refused[o] }
	if len(lacks) > 0 && !slices.ContainsFunc(lacks, func(o graph.Op) bool { return !known(o) }) {
		return r, false
	}
	open := j.open
	if c.reusesDevice || len(lacks) > 0 {
		open = j.lender.device
	}
	r = c.judge(ctx, open, have)
	for _, o := range lacks {
		j.refused[o] = true
	}
	if r.Err != nil {
		j.lender.drop()
	}
	if lost(r.Err) {
		j.losses++
	}
	return r, true
}

// stopReason returns the reason why a judgement ends after a result, or "" if it continues.
func (j *judging) stopReason(r Result) string {
	var keeps *leakError
	switch {
	case j.losses >= maxLosses:
		return fmt.Sprintf("the device was lost in %d cases", j.losses)
	case errors.As(r.Err, &keeps):
		return "the process keeps memory of every call"
	}
	return ""
}

// lost reports whether a case ended because the device was lost, or did not open.
func lost(err error) bool {
	var timeout *callTimeout
	var shut *openError
	return errors.Is(err, device.Lost) || errors.As(err, &timeout) || errors.As(err, &shut) ||
		errors.Is(err, errHangs)
}

type progressKey struct{}

// WithProgress returns a context in which a judgement calls tell when a case begins, with
// the number of cases before it and the number of all cases.
func WithProgress(ctx context.Context, tell func(c Case, before, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

func tellProgress(ctx context.Context, c Case, before, total int) {
	if tell, ok := ctx.Value(progressKey{}).(func(Case, int, int)); ok {
		tell(c, before, total)
	}
}
