package bench

import (
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
)

// Profile holds the times of a program's nodes on one device.
type Profile struct {
	Nodes  []Node // nodes of each function, followed by its sum
	Limits Limits
	Plan   []string // lines of text about how the device divides its work; nil unless Options.Plan is set
}

// Node has the times of a node or, if Name is empty, of a whole function. Times are medians in milliseconds.
// The two floors are lower bounds: the time for the operations at the highest rate of the device, and the
// time to read the operands and write the results once at the rate of memory.
type Node struct {
	Function string `json:"function"`
	Name     string `json:"node"`
	Op       string `json:"op,omitempty"`
	// Algorithm states how the device computes a product: see class.Choose. It is "" for other nodes, and for
	// devices without a kernel class.
	Algorithm string  `json:"algorithm,omitempty"`
	Ms        float64 `json:"ms"` // 0: the node is computed as part of another node
	FlopsMs   float64 `json:"floor_operations_ms"`
	BytesMs   float64 `json:"floor_bytes_ms"`
	// PlanMs is the time of the node that the plan of the device predicts, or 0 without a plan.
	PlanMs float64 `json:"plan_ms,omitempty"`
}

// Limits are the highest rates of the device. The floors are computed from them.
type Limits struct {
	Flops, Bytes float64 // operations and bytes per second
	Source       string  // origin of the rates
}

// newProfile returns the profile of the single device of f, from the times that the profiler has kept.
// Functions are in the order of their first runs.
func newProfile(f *fleet.Fleet, seen *profiler, kernels string) (*Profile, error) {
	m := f.Members[0]
	for _, r := range seen.runs {
		if len(r.nodes) == 0 {
			return nil, device.Errorf(m.Name, "Run", device.Unsupported,
				"this device does not report the times of nodes: the feature %s is missing", device.Profile)
		}
	}
	l := seen.highest()
	if f.Describe(m.Name).Name == "cpu" {
		best, err := measureLimits(kernels, f.Threads())
		if err != nil {
			return nil, err
		}
		l = Limits{best.Flops, best.Bytes, "of the machine"}
	}
	p := &Profile{Limits: l}
	for _, function := range seen.order {
		p.add(function, seen.runs[function], m.Device.Info().Kernels, f.Precision())
	}
	return p, nil
}

// highest returns the highest rates that any node reached.
func (p *profiler) highest() Limits {
	l := Limits{Source: "the highest of any node"}
	for f, r := range p.runs {
		for i := range f.Nodes {
			took := median(r.nodes[i]).Seconds()
			if took < 0.01*median(r.took).Seconds() {
				continue
			}
			flops, bytes := f.Cost(&f.Nodes[i]).At(r.rows)
			l.Flops, l.Bytes = max(l.Flops, flops/took), max(l.Bytes, bytes/took)
		}
	}
	return l
}

// add appends the nodes of a function to the profile, and then their sum.
func (p *Profile) add(f *graph.Function, r *profiledRuns, kernels, precision string) {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	sum := Node{Function: f.Name, Ms: ms(median(r.took))}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		flops, bytes := f.Cost(n).At(r.rows)
		e := Node{Function: f.Name, Name: f.NodeName(n), Op: n.Op.String(), Ms: ms(median(r.nodes[i])),
			FlopsMs: flops / p.Limits.Flops * 1000, BytesMs: bytes / p.Limits.Bytes * 1000}
		if l, ok := class.LayerOf(f, n); ok && class.Known(kernels) {
			e.Algorithm = class.Choose(l, precision, kernels).String()
		}
		sum.FlopsMs, sum.BytesMs = sum.FlopsMs+e.FlopsMs, sum.BytesMs+e.BytesMs
		p.Nodes = append(p.Nodes, e)
	}
	p.Nodes = append(p.Nodes, sum)
}
