package cpu

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
)

// Plan is how a device cuts the functions of a program, and how long that should take.
type Plan struct {
	Lines []string // for a person
	// Times are those of the nodes of each function by what is known of the machine, 0
	// of those that were made part of another.
	Times map[string][]time.Duration
}

// PlanOf returns the plan of a device that is opened with o on this machine, for runs of
// that number of rows. Nothing is run, and no state is read.
func PlanOf(ctx context.Context, p *graph.Program, o device.Options, rows int) (*Plan, error) {
	opened, err := Provider{}.Open(ctx, device.DefaultID, o)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	d := opened.(*Device)
	e, err := d.load(p, device.Capacity{Rows: 1, Replicas: 1})
	if err != nil {
		return nil, err
	}
	defer e.free()
	return &Plan{Lines: append(d.machine.Schedule.Lines(), e.explain()...), Times: e.predict(rows)}, nil
}

// predict returns the expected times of the nodes of every function for that number
// of rows.
func (e *Executable) predict(rows int) map[string][]time.Duration {
	d, all := e.device, map[string][]time.Duration{}
	here := machine.System()
	of := plan.Predictor{Machine: here, Rates: ratesOf(here, d.machine.Kernels).Rates, On: &d.machine,
		Rows: rows, Threads: d.info.Threads, State: e.memory.StateBytes()}
	for _, f := range e.program.Functions {
		times := of.Times(e.functions[f.Name])
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

// explain returns how the functions of the program are cut.
func (e *Executable) explain() (lines []string) {
	for _, f := range e.program.InOrder() {
		lines = append(lines, "", f.Name)
		lines = append(lines, e.functions[f.Name].Explain(e.device.machine.Schedule)...)
	}
	return lines
}
