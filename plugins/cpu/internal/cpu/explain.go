package cpu

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
)

// Plan describes how a device divides the functions of a program, and their
// expected times.
type Plan struct {
	Lines []string // text for people
	// Times are the estimated times of the nodes of each function on this machine. They are
	// 0 for nodes that were fused into others.
	Times map[string][]time.Duration
}

// PlanOf returns the plan of a device that is opened with o on this machine, for runs of
// the given number of rows. Nothing is run, and no state is read.
func PlanOf(_ context.Context, p *graph.Program, o device.Options, rows int) (*Plan, error) {
	b, err := open(device.DefaultID, o, false)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	r, err := b.load(p, device.Capacity{Rows: 1, Replicas: 1})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return &Plan{Lines: append(b.machine.Schedule.Lines(), r.explain()...), Times: r.predict(rows)}, nil
}

// predict returns the expected times of the nodes of every function for that number
// of rows.
func (r *runner) predict(rows int) map[string][]time.Duration {
	b, all := r.backend, map[string][]time.Duration{}
	here := machine.System()
	of := plan.Predictor{Machine: here, Rates: ratesOf(here, b.machine.Kernels).Rates, On: &b.machine,
		Rows: rows, Threads: b.described.Threads, State: r.memory.StateBytes()}
	for _, f := range r.program.Functions {
		times := of.Times(r.functions[f.Name])
		for i := range f.Nodes {
			if out := f.Nodes[i].Out; len(out) > 0 {
				all[f.Name] = append(all[f.Name], times[out[0]])
			} else {
				all[f.Name] = append(all[f.Name], 0)
			}
		}
	}
	return all
}

// explain returns a text that describes how work in the functions of the program is divided.
func (r *runner) explain() (lines []string) {
	for _, f := range r.program.InOrder() {
		lines = append(lines, "", f.Name)
		lines = append(lines, r.functions[f.Name].Explain(r.backend.machine.Schedule)...)
	}
	return lines
}
