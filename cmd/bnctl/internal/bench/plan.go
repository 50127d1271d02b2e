package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/problem"
)

// plan adds two things to a profile: how the device of f, which must be the CPU, divides the work of the
// profiled program, and the times that it predicts for the nodes.
func (p *Profile) plan(ctx context.Context, f *fleet.Fleet, seen *profiler) error {
	m := f.Members[0]
	if name := f.Describe(m.Name).Name; name != "cpu" {
		return problem.New("plan", "", "only a CPU device has one, and this is "+name, "")
	}
	o := device.Options{Threads: f.Threads(), Kernels: m.Device.Info().Kernels, Precision: f.Precision()}
	for _, function := range seen.order {
		plan, err := cpu.PlanOf(ctx, seen.program, o, seen.runs[function].rows)
		if err != nil {
			return err
		}
		p.Plan = plan.Lines
		times, next := plan.Times[function.Name], 0
		for i := range p.Nodes {
			if n := &p.Nodes[i]; n.Function == function.Name && n.Name != "" {
				n.PlanMs = float64(times[next]) / float64(time.Millisecond)
				next++
			}
		}
	}
	p.Plan = append(p.Plan, p.compared()...)
	return nil
}

// compared returns lines of text that compare the predicted and the measured times of nodes.
func (p *Profile) compared() []string {
	lines := []string{"", "expected times of nodes by the rates of the machine, and measured times, in ms"}
	var off []float64
	for _, n := range p.Nodes {
		if n.Name != "" && n.Ms > 0 && n.PlanMs > 0 {
			deviation := n.PlanMs/n.Ms - 1
			off = append(off, math.Abs(deviation))
			lines = append(lines, fmt.Sprintf("%-32s  %9.3f  %9.3f  %+5.0f %%", n.Name, n.PlanMs, n.Ms,
				100*deviation))
		}
	}
	if len(off) == 0 {
		return nil
	}
	slices.Sort(off)
	return append(lines,
		fmt.Sprintf("in the median the plan is %.0f %% off a node's time", 100*off[len(off)/2]))
}
