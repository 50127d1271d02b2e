package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// profileEvent is a row of bench --profile: a node of the program, or with no
// name the sum. Times are medians in milliseconds. The floors are what its
// operations take at the highest rate of the device, and what reading its
// operands and writing its results once takes at that of memory.
type profileEvent struct {
	Function string  `json:"function"`
	Node     string  `json:"node"`
	Op       string  `json:"op,omitempty"`
	Ms       float64 `json:"ms"` // 0: done as part of another node
	FlopsMs  float64 `json:"floor_operations_ms"`
	BytesMs  float64 `json:"floor_bytes_ms"`
}

// profile is what bench --profile prints.
type profile struct {
	rows   []profileEvent
	limits limits
}

// limits are the rates that floors are counted with.
type limits struct {
	flops, bytes float64 // per second
	of           string  // whose they are
}

// newProfile sums up what the profiler of the set saw, in the order of the program.
func newProfile(set *deviceSet, kernels string) (*profile, error) {
	m := set.Members[0]
	for _, r := range set.profiler.runs {
		if len(r.nodes) == 0 {
			return nil, device.Errorf(m.Name, "Run", device.Unsupported,
				"this device does not tell the times of nodes: the feature %s is missing", device.Profile)
		}
	}
	l := set.profiler.highest()
	if set.Describe(m.Name).Name == "cpu" {
		best, err := cpu.Measure(kernels, set.Threads())
		if err != nil {
			return nil, err
		}
		l = limits{best.Flops, best.Bytes, "of the machine"}
	}
	p := &profile{limits: l}
	for f, r := range set.profiler.runs {
		p.add(f, r)
	}
	return p, nil
}

// highest returns the highest rates of any node that took some time.
func (p *profiler) highest() limits {
	l := limits{of: "the highest of any node"}
	for f, r := range p.runs {
		for i := range f.Nodes {
			took := middle(r.nodes[i]).Seconds()
			if took < 0.01*middle(r.took).Seconds() {
				continue
			}
			flops, bytes := f.Cost(&f.Nodes[i]).At(r.rows)
			l.flops, l.bytes = max(l.flops, flops/took), max(l.bytes, bytes/took)
		}
	}
	return l
}

// add appends the nodes of a function and their sum.
func (p *profile) add(f *graph.Function, r *profiledRuns) {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	sum := profileEvent{Function: f.Name, Ms: ms(middle(r.took))}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		flops, bytes := f.Cost(n).At(r.rows)
		e := profileEvent{Function: f.Name, Node: f.NodeName(n), Op: n.Op.String(), Ms: ms(middle(r.nodes[i])),
			FlopsMs: flops / p.limits.flops * 1000, BytesMs: bytes / p.limits.bytes * 1000}
		sum.FlopsMs, sum.BytesMs = sum.FlopsMs+e.FlopsMs, sum.BytesMs+e.BytesMs
		p.rows = append(p.rows, e)
	}
	p.rows = append(p.rows, sum)
}

// tell prints the profile.
func (p *profile) tell(o *output) {
	o.result("\n%-32s  %-22s  %9s  %6s  %9s  %9s  %7s", "node", "operation", "ms", "%", "ops ms", "bytes ms",
		"x floor")
	all := map[string]float64{}
	for _, e := range p.rows {
		if e.Node == "" {
			all[e.Function] = e.Ms
		}
	}
	for _, e := range p.rows {
		o.event("profile", e)
		name, took, share, times := e.Node, "-", "", ""
		if name == "" {
			name = "all of " + e.Function
		}
		if e.Ms > 0 {
			took, share = fmt.Sprintf("%.3f", e.Ms), fmt.Sprintf("%.1f", 100*e.Ms/all[e.Function])
			if floor := max(e.FlopsMs, e.BytesMs); floor > 0 && e.Node != "" {
				times = fmt.Sprintf("%.1f", e.Ms/floor)
			}
		}
		o.result("%s", strings.TrimRight(fmt.Sprintf("%-32s  %-22s  %9s  %6s  %9.3f  %9.3f  %7s",
			name, e.Op, took, share, e.FlopsMs, e.BytesMs, times), " "))
	}
	o.result("floors: %.4g GFLOP/s, %.4g GB/s, %s; - is done as part of another node; times are medians",
		p.limits.flops/1e9, p.limits.bytes/1e9, p.limits.of)
}
