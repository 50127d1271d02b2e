package stage

import (
	"fmt"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Plan describes the stages of a division and their expected times.
type Plan struct {
	Stages []Planned
	Rows   int     // rows of a wave, which pass through a stage together
	waves  int     // waves of a training step; 0: a stream of waves without end
	update float64 // seconds of the longest update of a stage
	Ran    bool    // Planned.Waited is known
	// Step is the expected time of a training step in seconds, with the update, and Took
	// the time measured so far. Both are 0 for a stream.
	Step, Took float64
}

// Planned is a stage of a plan. Seconds is the time on one device that does not share the
// rows with others.
type Planned struct {
	Devices     []string
	First, Last string // layers
	Layers      int
	Parameters  int
	State       int64   // bytes of the state
	Activations int64   // bytes of activations, for Rows rows
	Across      int64   // bytes that come from earlier stages, for Rows rows
	Seconds     float64 // seconds for a row
	Idle        float64 // share of the time that the stage is expected to wait
	Waited      float64 // share of the time of training steps that the stage has waited so far
}

// Plan returns the plan of a division. programs are its stages, and times has the time of each node
// of the template for a row. columns are the devices of each stage. waves is the number of waves of
// a training step on each device, or 0 without training.
func (d *Division) Plan(programs []*graph.Program, times []float64, columns [][]string,
	rows, waves int) *Plan {
	p := &Plan{Rows: rows, waves: waves}
	for s, program := range programs {
		names := d.Layers(s)
		q := Planned{Devices: columns[s], Layers: len(names)}
		if len(names) > 0 {
			q.First, q.Last = names[0], names[len(names)-1]
		}
		for _, st := range program.State {
			q.State += int64(tensor.Count(st.Shape) * st.DType.Size())
			if st.Role.Trained() {
				q.Parameters += tensor.Count(st.Shape)
			}
		}
		q.Activations = activations(program, rows, min(waves, UnderWay(len(programs), s)))
		for _, f := range program.Functions {
			if f.Name == graph.Predict || f.Name == graph.Forward || f.Name == graph.Backward {
				q.Across = max(q.Across, int64(rows*acrossBytes(f)))
			}
		}
		for i, t := range times {
			if d.node[i] == s {
				q.Seconds += t
			}
		}
		p.update = max(p.update, updateSeconds(program))
		p.Stages = append(p.Stages, q)
	}
	p.wait()
	return p
}

// wait computes how long stages will wait. In a stream, a stage waits for the slowest stage. In a
// training step, it waits for work that other stages have not finished.
func (p *Plan) wait() {
	all, waves := 0.0, 1.0
	for _, q := range p.Stages {
		all = max(all, q.Seconds)
	}
	if p.waves > 0 {
		all, waves = p.step(), float64(p.waves)
		p.Step = float64(float64(p.Rows)*all) + p.update
	}
	for s := range p.Stages {
		if q := &p.Stages[s]; all > 0 {
			q.Idle = max(0, 1-float64(waves*q.Seconds)/all) // rounding may make the difference negative
		}
	}
}

// forwardShare is the share of the forward pass in the time of a wave: the backward pass
// has two products for each one of the forward pass.
const forwardShare = 1. / 3

// activations estimates the bytes of values of a number of rows on a device, with a number
// of waves between their forward and their backward pass.
func activations(p *graph.Program, rows, waves int) int64 {
	most, retained := 0, 0
	for _, f := range p.Functions {
		most = max(most, f.ActivationBytes())
		for _, o := range f.Outputs {
			if t := f.Values[o.Value].Type; f.Name == graph.Forward && o.Keep && t.Kind == graph.Rows {
				retained += tensor.Count(t.Shape) * t.DType.Size()
			}
		}
	}
	return int64(rows) * int64(most+retained*max(waves-1, 0))
}

// acrossBytes returns how many bytes of a row a function gets from other stages.
func acrossBytes(f *graph.Function) (bytes int) {
	for _, v := range f.Inputs {
		if t := f.Values[v].Type; Across(f.Values[v].Name) && t.Kind == graph.Rows {
			bytes += tensor.Count(t.Shape) * t.DType.Size()
		}
	}
	return bytes
}

// Lines returns the plan as text.
func (p *Plan) Lines() []string {
	const mib = 1 << 20
	var lines []string
	if p.Ran {
		for s, q := range p.Stages {
			lines = append(lines, fmt.Sprintf("stage %d waited %.0f %% of the time, %.0f %% were expected", s+1,
				100*q.Waited, 100*q.Idle))
		}
		if p.Took > 0 {
			lines = append(lines, p.StepLine())
		}
		return lines
	}
	for s, q := range p.Stages {
		on := "no device"
		if len(q.Devices) > 0 {
			on = q.Devices[0]
		}
		if n := len(q.Devices); n > 1 {
			on += " and " + problem.Plural(n-1, "other")
		}
		lines = append(lines, fmt.Sprintf("stage %d on %s: %s, %s to %s; %d parameters, %.1f MiB of state, "+
			"%.1f MiB of activations and %.1f MiB across for %s; %.2f ms a row, idle %.0f %%", s+1, on,
			problem.Plural(q.Layers, "layer"), q.First, q.Last, q.Parameters, float64(q.State)/mib,
			float64(q.Activations)/mib, float64(q.Across)/mib, problem.Plural(p.Rows, "row"), 1e3*q.Seconds,
			100*q.Idle))
	}
	if p.Step > 0 {
		lines = append(lines, fmt.Sprintf("a step of %s should take %s", problem.Plural(p.Rows*p.waves, "row"),
			seconds(p.Step)))
	}
	return lines
}

// StepLine describes how long a step took.
func (p *Plan) StepLine() string {
	return fmt.Sprintf("a step took %s, and %s were expected", seconds(p.Took), seconds(p.Step))
}

// seconds writes a time with three significant digits.
func seconds(t float64) string { return strconv.FormatFloat(t, 'g', 3, 64) + " s" }

// Ran is a run of a function, with its time and, if the device reported them, the times of
// its nodes.
type Ran struct {
	Function *graph.Function
	Nodes    []time.Duration
	Took     time.Duration
}

// Measured returns the argument times with the times of one stage replaced by measurements. These are
// runs of the functions of the stage with a number of rows. If the device reported times of nodes, they
// are used; otherwise the time of a run is distributed among the nodes of the stage in proportion to
// times.
func (d *Division) Measured(times []float64, stage int, rows int, runs ...Ran) []float64 {
	measured, whole := append([]float64(nil), times...), 0.0
	for i := range times {
		if d.node[i] == stage {
			whole += times[i]
			measured[i] = 0
		}
	}
	for _, r := range runs {
		took, sum := r.Took.Seconds()/float64(rows), time.Duration(0)
		for _, t := range r.Nodes {
			sum += t
		}
		if len(r.Nodes) == len(r.Function.Nodes) && sum > 0 {
			d.network.account(r.Function, measured, func(i int) float64 {
				return took * r.Nodes[i].Seconds() / sum.Seconds()
			})
			continue
		}
		for i, t := range times {
			if d.node[i] == stage && whole > 0 {
				measured[i] += t / whole * took
			}
		}
	}
	return measured
}

// TimesOf returns times with the times of a stage replaced by those in others.
func (d *Division) TimesOf(stage int, others, times []float64) []float64 {
	taken := append([]float64(nil), times...)
	for i := range taken {
		if d.node[i] == stage {
			taken[i] = others[i]
		}
	}
	return taken
}

// account adds the times of the nodes of f to the nodes of the template from which they
// were made.
func (n *Network) account(f *graph.Function, times []float64, took func(node int) float64) {
	last := 0 // the time of a node that does not come from the template counts for the node before it
	for i := range f.Nodes {
		if origin, ok := n.origin(f.NodeName(&f.Nodes[i])); ok {
			last = origin
		}
		times[last] += took(i)
	}
}
