package bench

import (
	"context"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
)

// profiler asks a device for the times of nodes, and keeps the times of all runs.
type profiler struct {
	runs    map[*graph.Function]*profiledRuns
	order   []*graph.Function // in the order of their first runs
	program *graph.Program    // the last program that was loaded
}

// profiledRuns has the times of all runs of one function.
type profiledRuns struct {
	rows  int               // number of rows in a run
	took  []time.Duration   // duration of each run
	nodes [][]time.Duration // times of each node, in each run
}

func newProfiler() *profiler {
	p := &profiler{}
	p.reset()
	return p
}

// members returns devices that pass the times of every run to the profiler.
func (p *profiler) members(list []parallel.Member) []parallel.Member {
	out := slices.Clone(list)
	for i, m := range list {
		out[i].Device = profiledDevice{m.Device, p}
	}
	return out
}

// reset discards all measurements.
func (p *profiler) reset() { p.runs, p.order = map[*graph.Function]*profiledRuns{}, nil }

// profiledDevice is a device that passes the times of its runs to a profiler.
type profiledDevice struct {
	device.Device
	profiler *profiler
}

// Load implements device.Device.
func (w profiledDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	x, err := w.Device.Load(ctx, p, c)
	if err != nil {
		return nil, err
	}
	w.profiler.program = p
	return profiledExecutable{x, p, w.profiler}, nil
}

type profiledExecutable struct {
	device.Executable
	program  *graph.Program
	profiler *profiler
}

// Run implements device.Executable.
func (w profiledExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	s.Profile = true
	o, err := w.Executable.Run(ctx, s)
	if err == nil {
		w.profiler.add(w.program.Function(s.Function), s, o)
	}
	return o, err
}

// add keeps the times of one run.
func (p *profiler) add(f *graph.Function, s device.Step, o device.Outcome) {
	r := p.runs[f]
	if r == nil {
		r = &profiledRuns{nodes: make([][]time.Duration, len(o.Nodes))}
		p.runs[f] = r
		p.order = append(p.order, f)
	}
	r.rows = 0
	for _, n := range s.Rows {
		r.rows += n
	}
	r.took = append(r.took, o.Took)
	for i, t := range o.Nodes {
		r.nodes[i] = append(r.nodes[i], t)
	}
}

// median returns the median of a list. For an even length it is the upper of the two middle elements.
func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
