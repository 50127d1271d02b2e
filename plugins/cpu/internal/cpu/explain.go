package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
)

// Plan returns how a device that is opened with o cuts the functions of p on this
// machine, as lines for a person: nothing is run, and no state is read.
func Plan(ctx context.Context, p *graph.Program, o device.Options) (lines []string, err error) {
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
	return append(d.Schedule.Lines(), e.explain()...), nil
}

// explain returns how the functions of the program are cut.
func (e *Executable) explain() (lines []string) {
	for _, f := range inOrder(e.program.Functions) {
		lines = append(lines, "", f.Name)
		lines = append(lines, plan.Explain(e.functions[f.Name], e.device.Schedule)...)
	}
	return lines
}
