package golden

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/spec"
)

// Verify runs the golden vectors that are embedded in the program, on the named devices or, if names is
// empty, on all devices of this machine. It returns the number of vectors with faults. limit is the time for
// all devices together: no vector is started after it; 0 means no limit. It ignores Options.Devices. A device
// that is named must have a numbered kernel class.
func Verify(ctx context.Context, o fleet.Options, names []string, limit time.Duration, out Output) (
	faults int, err error) {
	vectors, err := spec.Small()
	if err != nil {
		return 0, err
	}
	vectors = spec.Spread(vectors)
	end, named := time.Now().Add(limit), len(names) > 0
	if !named {
		if names, err = present(ctx, o.Plugins); err != nil {
			return 0, err
		}
	}
	verified := 0
	for i, name := range names {
		timeLimit := limit
		if limit > 0 { // leaves time for the devices that follow
			timeLimit = max(time.Until(end)/time.Duration(len(names)-i), 1)
		}
		s, err := verify(ctx, o, name, vectors, timeLimit, out)
		if err != nil {
			return faults, err
		}
		if len(s.Classes) == 0 {
			s.Note = "kernel class " + s.Kernels + " has no number, so there are no vectors of it"
			if named {
				return faults, problem.New("", name, s.Note, "name another device, or leave the names out")
			}
		} else {
			verified++
		}
		out.printSummary(s)
		faults += s.Faults
	}
	if verified == 0 {
		return faults, problem.Failure("", "no device of this machine has a numbered class", "")
	}
	return faults, ctx.Err()
}

// Fault returns the error for devices that compute other bits in the given number of vectors. It is joined
// with the error other, which may be nil.
func Fault(vectors int, other error) error {
	return errors.Join(problem.Advise("train and predict without the device until its driver or hardware is "+
		"repaired", "%s failed: the bits are not those of the class",
		problem.Plural(vectors, "vector")), other)
}

// present returns the names of all devices of this machine.
func present(ctx context.Context, p fleet.Plugins) (names []string, err error) {
	plugins, err := p.Names()
	if err != nil {
		return nil, err
	}
	for _, plugin := range plugins {
		for _, l := range p.List(ctx, plugin) {
			if d := l.Description(); d.Reason == "" && !slices.Contains(names, d.Name) {
				names = append(names, d.Name)
			}
		}
	}
	return names, ctx.Err()
}

// verify runs vectors on one device.
func verify(ctx context.Context, o fleet.Options, name string, vectors []*spec.Vector, limit time.Duration,
	out Output) (summary, error) {
	start := time.Now()
	o.Devices, o.Precision = name, device.F32
	s := summary{Device: name}
	opener, err := fleet.FindOne(ctx, o)
	if err != nil {
		return s, err
	}
	defer opener.Close()
	d, err := opener.Open(ctx, opener.Threads())
	if err != nil {
		return s, err
	}
	defer d.Close()
	if limit > 0 {
		limit = max(limit-time.Since(start), 1)
	}
	s.Summary = spec.JudgeWithin(ctx, d, vectors, limit, func(r spec.Outcome) {
		out.printOutcome(outcome{Device: name, Outcome: r})
	})
	return s, nil
}
