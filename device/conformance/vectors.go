package conformance

import (
	"context"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/spec"
)

// Vectors runs golden vectors on a device of the plugin that cmd starts, at each level, and returns
// the number of vectors that give other bits or no result. It runs the vectors of the device's
// numbered classes. Options.Case selects vectors by a part of their names.
func Vectors(ctx context.Context, cmd remote.Command, o Options, vectors []*spec.Vector,
	each func(level string, r spec.Outcome), done func(level string, s spec.Summary)) (faults int, err error) {
	var some []*spec.Vector
	for _, v := range vectors {
		if strings.Contains(v.Name, o.Case) {
			some = append(some, v)
		}
	}
	if len(some) == 0 {
		return 0, problem.New("case", `"`+o.Case+`"`, "no vector has that in its name",
			"give a part of one, such as "+vectors[0].Name)
	}
	id, levels, _, _, err := o.device(ctx, cmd)
	if err != nil {
		return 0, err
	}
	for _, level := range levels {
		if level == device.CollShm { // this level only affects exchanges between devices
			continue
		}
		s, err := vectorsAt(ctx, cmd, id, level, some, each)
		if err != nil {
			return 0, err
		}
		if len(s.Classes) == 0 {
			return 0, problem.Failure("",
				"the device has kernel class "+s.Kernels+" and announces no numbered class that has vectors",
				"announce it in the classes of the device, as fma/1, or run the cases, without {vectors}")
		}
		done(level, s)
		faults += s.Faults
	}
	return faults, ctx.Err()
}

// vectorsAt runs vectors at one level, on one device.
func vectorsAt(ctx context.Context, cmd remote.Command, id, level string, vectors []*spec.Vector,
	each func(level string, r spec.Outcome)) (spec.Summary, error) {
	cmd.Levels = []string{level}
	p, err := remote.Start(ctx, cmd)
	if err != nil {
		return spec.Summary{}, &Broken{err}
	}
	defer p.Close()
	d, err := p.Open(ctx, id, device.Options{Threads: 1, Precision: device.F32})
	if err != nil {
		return spec.Summary{}, &Broken{err}
	}
	defer d.Close()
	return spec.JudgeAll(ctx, d, vectors, func(r spec.Outcome) { each(level, r) }), nil
}
