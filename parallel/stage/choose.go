package stage

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// All stages wait for the slowest one, so the cuts make the slowest stage as fast as possible.
// Among cuts with nearly the same slowest stage, the cuts with the fewest bytes that cross are
// used.

// alike is a factor on the shortest possible time of the slowest stage. Of the cuts within this limit,
// balanced returns the cut with the fewest crossing bytes.
const alike = 1.03

// Rates of a core with 512-bit vectors. They weigh operations against memory traffic if
// nothing was measured.
const (
	flopsPerSecond = 1.2e11
	bytesPerSecond = 1e10
)

// sumTraffic is the memory traffic of the gradient of one replica, as a multiple of its size. The
// gradient is written, or it is added to a sum, which is read and written. Half of the sums are
// added to another sum. The layout of new weights for a device's kernels moves about the same
// number of bytes as an update reads and writes.
const sumTraffic = 2.5

// Times estimates the time of each node of the template per row, in seconds. It counts operations and
// bytes of the nodes in p, in training or, if p does not train, in prediction. Every run reads all
// weights and computes all gradients for its rows. rows is the number of rows of a run, and waves is
// the number of waves of a training step.
func (n *Network) Times(p *graph.Program, rows, waves int) []float64 {
	times, each := make([]float64, len(n.main.Nodes)), float64(max(rows, 1))
	f := p.Function(graph.Train)
	if f == nil {
		f = p.Function(graph.Predict)
	}
	if f != nil {
		n.account(f, times, func(i int) float64 {
			c := f.Cost(&f.Nodes[i])
			for _, v := range f.Nodes[i].Out {
				if t := f.Values[v].Type; t.Kind == graph.Replica {
					c.Bytes += (sumTraffic - 1) * float64(tensor.Count(t.Shape)*t.DType.Size())
				}
			}
			if f.Nodes[i].Op == graph.AllReduce { // the all-reduce was added for training
				c.Bytes = 0
			}
			return c.RowFlops/flopsPerSecond + (c.RowBytes+c.Bytes/each)/bytesPerSecond
		})
	}
	if f := p.Function(graph.Commit); f != nil {
		n.account(f, times, func(i int) float64 {
			return f.Cost(&f.Nodes[i]).Bytes / (each * float64(max(waves, 1))) / bytesPerSecond
		})
	}
	return times
}

// updateSeconds estimates the time of the update of a stage.
func updateSeconds(p *graph.Program) (seconds float64) {
	if f := p.Function(graph.Commit); f != nil {
		for i := range f.Nodes {
			seconds += f.Cost(&f.Nodes[i]).Bytes / bytesPerSecond
		}
	}
	return seconds
}

// Again returns the best division into the same number of stages as d according to measured
// times, and reports whether it is worth loading in place of d.
func (d *Division) Again(times []float64) (*Division, bool) {
	better, err := d.network.Choose(Spec{Number: d.stages}, times)
	return better, err == nil && better.slowest(times)*worthwhile < d.slowest(times)
}

// worthwhile is the minimum speedup of the slowest stage that justifies loading another division.
const worthwhile = 1.05

// slowest returns the time of the slowest stage.
func (d *Division) slowest(times []float64) float64 {
	sums := make([]float64, d.stages)
	for i, t := range times {
		sums[d.node[i]] += t
	}
	return slices.Max(sums)
}

// Choose returns the division for a spec. times has the time of each node: see Times.
func (n *Network) Choose(s Spec, times []float64) (*Division, error) {
	if len(s.Layers) > 0 {
		return n.named(s.Layers)
	}
	stages := max(s.Number, 1)
	if stages > len(n.main.Nodes) {
		return nil, problem.New("stages", strconv.Itoa(stages), fmt.Sprintf("the network has %s",
			problem.Plural(len(n.main.Nodes), "layer")), "use fewer stages")
	}
	begin, err := n.balanced(stages, times)
	if err != nil {
		return nil, err
	}
	return n.Divide(begin)
}

// named returns the division with stages that begin with the named layers.
func (n *Network) named(layers []string) (*Division, error) {
	var begin []int
	for i, name := range layers {
		b, err := n.Find(name)
		if err != nil {
			return nil, err
		}
		if b == 0 {
			return nil, problem.New("stages", name, "the first stage begins with it anyway",
				"name the layers with which the others begin")
		}
		for fused := n.fusible(); b < len(fused) && fused[b]; {
			b++
		}
		if i > 0 && b <= begin[i-1] {
			return nil, problem.New("stages", name, "it does not come behind "+layers[i-1],
				"name layers in their order")
		}
		begin = append(begin, b)
	}
	return n.Divide(begin)
}

// balanced returns the first nodes of the stages after the first stage.
func (n *Network) balanced(stages int, times []float64) ([]int, error) {
	c := &chooser{elapsed: make([]float64, len(times)+1), bytes: n.bytesAt(), barred: n.barred()}
	for i, t := range times {
		c.elapsed[i+1] = c.elapsed[i] + t
	}
	slowest, ok := c.search(stages, math.Inf(1))
	if !ok {
		return nil, problem.New("stages", strconv.Itoa(stages), "there are not so many layers between which the "+
			"network can be divided", "use fewer stages")
	}
	begin, _ := c.search(stages, alike*c.slowest(slowest))
	return begin, nil
}

// chooser searches for cuts.
type chooser struct {
	elapsed []float64 // total time before each node
	bytes   []float64 // bytes that cross if a stage begins with the node
	barred  []bool    // no stage may begin with the node
}

// slowest returns the time of the slowest stage.
func (c *chooser) slowest(begin []int) float64 {
	most, from := 0.0, 0
	for _, b := range append(slices.Clone(begin), len(c.elapsed)-1) {
		most, from = max(most, c.elapsed[b]-c.elapsed[from]), b
	}
	return most
}

// search returns the cuts with the shortest time of the slowest stage. If there is a limit for this
// time, search returns the cuts within the limit with the fewest crossing bytes. ok reports whether
// there are any.
func (c *chooser) search(stages int, limit float64) (begin []int, ok bool) {
	nodes := len(c.elapsed) - 1
	bounded := !math.IsInf(limit, 1)
	least := make([][]float64, stages) // smallest objective for a number of stages before a node
	from := make([][]int, stages)
	for s := range stages {
		least[s], from[s] = make([]float64, nodes+1), make([]int, nodes+1)
		for end := range nodes + 1 {
			least[s][end] = math.Inf(1)
			for b := range end {
				took := c.elapsed[end] - c.elapsed[b]
				if s == 0 && b > 0 || s > 0 && (b == 0 || c.barred[b]) || took > limit {
					continue
				}
				value := took
				if s > 0 && bounded {
					value = least[s-1][b] + c.bytes[b]
				} else if s > 0 {
					value = max(least[s-1][b], took)
				} else if bounded {
					value = 0
				}
				// Among equal cuts the last one wins: then nodes that follow a product, and are fused into it,
				// stay with the product.
				if value < least[s][end] || bounded && value == least[s][end] {
					least[s][end], from[s][end] = value, b
				}
			}
		}
	}
	if math.IsInf(least[stages-1][nodes], 1) {
		return nil, false
	}
	for s, end := stages-1, nodes; s > 0; s-- {
		end = from[s][end]
		begin = append(begin, end)
	}
	slices.Reverse(begin)
	return begin, true
}

// bytesAt returns for each node the number of bytes per row that cross if a stage begins with it. It
// counts every value that is computed before the node and read at or after it.
func (n *Network) bytesAt() []float64 {
	bytes := make([]float64, len(n.main.Nodes)+1)
	for v, users := range n.users {
		t := n.main.Values[v].Type
		if n.makers[v] < 0 || len(users) == 0 || t.Kind != graph.Rows {
			continue
		}
		for b := n.makers[v] + 1; b <= users[len(users)-1]; b++ {
			bytes[b] += float64(tensor.Count(t.Shape) * t.DType.Size())
		}
	}
	return bytes
}

// fusible reports for each node whether a stage that begins with it would separate nodes that a device
// may fuse, if fusing changes the rounding: the value between them is read once, element by element.
func (n *Network) fusible() []bool {
	fusible := make([]bool, len(n.main.Nodes))
	if !n.rounds {
		return fusible
	}
	for v, users := range n.users {
		if n.makers[v] < 0 || len(users) != 1 || slices.Contains(operands, n.main.Nodes[users[0]].Op) ||
			!device.StoredBF16(n.main.Values[v].Type) {
			continue
		}
		for i := n.makers[v] + 1; i <= users[0]; i++ {
			fusible[i] = true
		}
	}
	return fusible
}

// operands lists the operations that read only stored values, or that round their operands. So no
// device fuses them with the node before.
var operands = []graph.Op{graph.Conv, graph.ConvTranspose, graph.Dense, graph.MaxPool, graph.AvgPool,
	graph.GlobalAvgPool, graph.Upsample}

// barred reports by node whether a stage that begins with it would divide a norm from its
// product, or layers that share state.
func (n *Network) barred() []bool {
	barred := n.fusible()
	bar := func(first, last int) {
		for i := first + 1; i <= last; i++ {
			barred[i] = true
		}
	}
	for norm, product := range n.follows {
		bar(product, norm)
	}
	readers := map[string]int{}
	for i := range n.main.Nodes {
		for _, v := range n.main.Nodes[i].In {
			if v == graph.None || n.main.Values[v].State == "" {
				continue
			}
			name := n.main.Values[v].State
			if first, ok := readers[name]; ok {
				bar(first, i)
			} else {
				readers[name] = i
			}
		}
	}
	return barred
}
