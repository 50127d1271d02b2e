package plan

import (
	"time"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// Predictor estimates the run time of nodes from the rates of the machine.
type Predictor struct {
	Machine machine.Description
	Rates   machine.Rates
	On      *run.Machine
	Rows    int // number of rows of a run
	Threads int
	State   int // bytes of the program's state
}

// Times returns the estimated run times of the nodes of a compiled function. A key is the first result that
// the node had in the original function. The time of a node includes nodes that were fused into it.
func (p *Predictor) Times(fn *run.Function) map[graph.Value]time.Duration {
	times := map[graph.Value]time.Duration{}
	nodes := fn.Graph().Nodes
	for i := range nodes {
		if n := &nodes[i]; len(n.Out) > 0 {
			seconds := p.work(fn, n).Seconds(p.Rates) / float64(p.Threads)
			times[fn.Given(n.Out[0])] = time.Duration(seconds * float64(time.Second))
		}
	}
	return times
}

// work returns the work of node n for all rows.
func (p *Predictor) work(fn *run.Function, n *graph.Node) (w schedule.Work) {
	if l, ok := class.LayerOf(fn.Graph(), n); ok {
		w = p.layer(l)
	} else {
		w.Passes, _ = fn.Graph().Cost(n).At(p.Rows)
	}
	for _, values := range [][]graph.Value{n.In, n.Out} {
		for _, v := range values {
			if v != graph.None {
				p.reach(&w, fn.Value(v))
			}
		}
	}
	return w
}

// layer returns the work of a product.
func (p *Predictor) layer(l class.Layer) (w schedule.Work) {
	taps, pixels := l.Kernel[0]*l.Kernel[1], p.Rows*l.OH*l.OW
	switch a := class.Choose(l, p.On.Precision(), p.On.Kernels.Class); a {
	case class.Winograd2:
		return p.tiles(l, a.Tiles(), 4)
	case class.Winograd4, class.Winograd5:
		return p.tiles(l, a.Tiles(), 6)
	case class.Depthwise, class.DepthwiseRows:
		w.Depthwise = 2 * float64(pixels*taps*l.O)
	default:
		const lanes = kernel.Lanes / 2 // number of channels of the smallest windows
		run, width := l.C/l.Groups, (l.O/l.Groups+lanes-1)/lanes*lanes
		w.Products = 2 * float64(pixels*taps*run*l.Groups*width) * begins(l, taps, run)
	}
	return w
}

// begins returns a factor for the work of a register block before and after its chains, and at the
// beginning of every tap. This work counts as some additional values of a run.
func begins(l class.Layer, taps, run int) float64 {
	const perTile, perTap = 5, 1
	if l.Narrow() { // a row of the kernel is one tap
		taps, run = l.Kernel[0], run*l.Kernel[1]
	}
	return 1 + perTile/float64(max(taps*run, 1)) + perTap/float64(max(run, 1))
}

// tiles returns the work of a product by Winograd tiles. transforms is the number of operations for
// transforming one value of a tile.
func (p *Predictor) tiles(l class.Layer, t class.Tiles, transforms int) schedule.Work {
	phase, phases := l.Phase(), l.Dilation[0]*l.Dilation[1]
	tiles := phases * ((phase.OH + t.Side - 1) / t.Side) * ((phase.OW + t.Side - 1) / t.Side)
	values := p.Rows * tiles * t.Tile() * t.Tile()
	return schedule.Work{Tiles: 2 * float64(values*l.C*l.O),
		Transforms: float64(values * transforms * (l.C + l.O))}
}

// reach adds the bytes of a value to those that are transferred from or to the cache, or memory, that holds
// it.
func (p *Predictor) reach(w *schedule.Work, v *run.Value) {
	l2, l3 := p.Machine.L2.PerCore(), p.Machine.L3.PerCore()
	bytes, stored := v.Reach(p.Rows)
	if v.State() != nil {
		stored = p.State
	}
	switch {
	case stored > l3:
		w.Memory += float64(bytes)
	case stored > l2/2:
		w.L3 += float64(bytes)
	}
}
