package convolution

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// The gradient of a dense weight is a product over rows, dw[o][k] = sum of dy[o] * x[k]. The leaves of the
// tree of sums are the gradients of replicas. If only an all-reduce reads the gradient, the sums of
// neighbouring replicas are added while they are in the cache:
//
// 	replicas   0     1     2     3          a block of sums for each level of the tree:
// 	           \     |     |     /          1 is added to 0 in level 0 (join), then 2 and
// 	            +-0-1-+   +-2-3-+           3 go to level 1 and are added to level 0
// 	                 \     /
// 	                 0 .. 3                  written once

// buildDenseGradWeight builds the gradient of a dense product for its weight.
func buildDenseGradWeight(c *plan.Compiler) run.Action {
	if c.Node().Int("leading") > 0 {
		return buildConvGradWeight(c)
	}
	dw := c.Out(0)
	x, roundX := c.Operand(c.In(0))
	dy, roundDy := c.Operand(c.In(1))
	if max(x.Count, dy.Count) > mostDense {
		return c.Refuse(fmt.Sprintf("rows of more than %d values", mostDense))
	}
	// dw[o][k] is the sum over rows of dy[o]*x[k]. In this product, dy is used like an image and x like the
	// gradient of the result, so that the product consists of whole rows of dw.
	g := &denseGradient{x: x, dy: dy, dw: dw, windows: denseWindowsOf(dy.Count, x.Count),
		chunks: chunksOf(1)}
	dw.AllowAdding()
	g.summed = c.OnlySummed()
	if g.summed {
		c.ComesSummed(dw)
	}
	return run.Whole(func(f *run.Frame) error {
		roundX(f)
		roundDy(f)
		for _, n := range f.Rows {
			g.windows.prepare(min(n, g.chunks.rows))
			g.windows.prepare(n % g.chunks.rows)
		}
		g.adds = f.Adds(dw)
		leaves, local := f.Members()
		nodes := g.nodes(leaves, local)
		panels := g.windows.rows(1).Panels()
		f.Each(len(nodes)*panels, func(w *run.Worker, task int) {
			t := denseTask{k: g, w: w, f: f, local: local, panel: task % panels}
			t.width = g.windows.rows(1).PanelWidth(t.panel)
			blocks := bits.Len(uint(leaves)+1) + g.chunks.blocks(slices.Max(f.Rows))
			t.workspace = w.Floats(blocks * t.maxValues() * t.width)
			for t.k0 = 0; t.k0 < dy.Count; t.k0 = t.k1 {
				t.k1 = min(t.k0+t.maxValues(), dy.Count)
				t.sum(nodes[task/panels])
			}
		})
		return nil
	})
}

// denseGradient is the weight gradient of a dense product.
type denseGradient struct {
	x, dy, dw *run.Value
	windows   *denseWindows
	chunks    chunks
	// summed reports that only the sum over replicas reads the gradient. The gradients are then summed along
	// the tree while they are in the cache. The sum at a node is stored in the place of its first replica that
	// has rows.
	summed bool
	adds   bool // in this run, the gradient is added to existing sums
}

// nodes returns the nodes of the tree of sums that this device computes from the replicas that it holds.
func (g *denseGradient) nodes(leaves int, local []int) []collective.Node {
	if g.summed {
		return collective.Cover(leaves, local)
	}
	nodes := make([]collective.Node, len(local))
	for i, r := range local {
		nodes[i] = collective.Node{From: r, To: r + 1}
	}
	return nodes
}

// denseTask computes a part of one node: the gradient of values [k0, k1) of dy for one panel of weights.
type denseTask struct {
	k            *denseGradient
	w            *run.Worker
	f            *run.Frame
	local        []int
	panel, width int
	k0, k1       int
	workspace    []float32 // one block of sums for each level of the tree
}

// denseValues is the number of values of dy that DenseGradient processes at a time, so that the sums of
// neighbouring levels stay in the nearest cache of a core.
const denseValues = 48

// tiled reports whether kernel.DenseGradient computes the panel of the task.
func (t *denseTask) tiled() bool {
	return t.f.Kernels.HasDenseGradient() && (t.panel+1)*kernel.PanelLanes <= t.k.x.Count
}

// maxValues returns the number of values of dy that the task processes at a time.
func (t *denseTask) maxValues() int {
	if t.tiled() {
		return denseValues
	}
	return t.k.dy.Count
}

// size returns the number of sums in the block of one level.
func (t *denseTask) size() int { return (t.k1 - t.k0) * t.width }

// block returns the block of sums of a level.
func (t *denseTask) block(level int) []float32 {
	n := t.size()
	return t.workspace[level*n : (level+1)*n]
}

// sum computes the sum at node n of the tree and writes it to the gradient.
func (t *denseTask) sum(n collective.Node) {
	first := t.eval(n, 0)
	if first < 0 && t.k.summed { // no replica has rows, so the node has no sum
		return
	}
	if first < 0 {
		first, _ = slices.BinarySearch(t.local, n.From)
		clear(t.block(0))
	}
	to, sums := run.Row(t.f.F32(t.k.dw), t.k.dw, first)[t.panel*kernel.PanelLanes:], t.block(0)
	real := min(t.width, t.k.x.Count-t.panel*kernel.PanelLanes)
	for o := t.k0; o < t.k1; o++ {
		row := sums[(o-t.k0)*t.width:][:real]
		if t.k.adds {
			t.f.Add(t.k.dw, o*t.k.x.Count+t.panel*kernel.PanelLanes, row)
		} else {
			copy(to[o*t.k.x.Count:], row)
		}
	}
}

// eval computes the sum at node n of the tree in the block of the given level. It returns the index of the
// first replica of the node that has rows, among the replicas that this device holds, or -1 if none has
// rows.
func (t *denseTask) eval(n collective.Node, level int) (first int) {
	if n.Leaf() {
		r, _ := slices.BinarySearch(t.local, n.From)
		if t.f.Rows[r] == 0 {
			return -1
		}
		t.leaf(r, level)
		return r
	}
	left, right := n.Children()
	first = t.eval(left, level)
	if first < 0 {
		return t.eval(right, level)
	}
	if right.Leaf() && t.tiled() {
		t.join(right, level)
	} else if t.eval(right, level+1) >= 0 {
		t.f.Kernels.Add(t.block(level), t.block(level), t.block(level+1))
	}
	return first
}

// join adds the gradient of one replica, a leaf of the tree, to the sums in the block of the given level.
func (t *denseTask) join(n collective.Node, level int) {
	r, _ := slices.BinarySearch(t.local, n.From)
	if rows := t.f.Rows[r]; t.k.chunks.count(rows) == 1 {
		t.tiles(t.block(level), t.f.Starts[r], t.f.Starts[r+1], true)
	} else if rows > 0 {
		t.leaf(r, level+1)
		t.f.Kernels.Add(t.block(level), t.block(level), t.block(level+1))
	}
}

// tiles computes the sums over rows [from, to). If add is set, they are added to the
// previous sums.
func (t *denseTask) tiles(sums []float32, from, to int, add bool) {
	in := t.f.F32(t.k.dy)[from*t.k.dy.Count+t.k0:]
	grad := t.f.F32(t.k.x)[from*t.k.x.Count+t.panel*kernel.PanelLanes:]
	t.f.Kernels.DenseGradient(sums, in, t.k.dy.Count, grad, t.k.x.Count, to-from, t.k1-t.k0, add)
}

// leaf computes the gradient of replica r in the block of a level.
func (t *denseTask) leaf(r, level int) {
	from, to := t.f.Starts[r], t.f.Starts[r+1]
	if t.tiled() && t.k.chunks.count(to-from) == 1 {
		t.tiles(t.block(level), from, to, false)
		return
	}
	in, grad, kernels := t.f.F32(t.k.dy), t.f.Slack(t.k.x), t.f.Kernels
	size := t.size()
	t.k.chunks.sum(kernels, t.workspace[level*size:], size, from, to,
		func(sums []float32, from, to int) {
			for first := from; first < to; first += denseRows {
				n := min(denseRows, to-first)
				kernels.Gradient(t.k.windows.rows(n), 0, t.panel, sums, in[first*t.k.dy.Count:],
					grad[first*t.k.x.Count:], t.k0, t.k1, 0, n, &t.w.Tile)
			}
		})
}
