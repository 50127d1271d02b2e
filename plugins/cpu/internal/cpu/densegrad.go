package cpu

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

func buildDenseGradWeight(c *compiler) action {
	dw := c.out(0)
	x, roundX := c.operand(c.in(0))
	dy, roundDy := c.operand(c.in(1))
	if max(x.count, dy.count) > mostDense {
		return c.no(fmt.Sprintf("rows of more than %d values", mostDense))
	}
	// dw[o][k] is the sum over rows of dy[o]*x[k]: dy takes the part of the
	// image, x that of its gradient, so that rows of dw come out whole.
	g := &denseGradient{x: x, dy: dy, dw: dw, windows: &denseWindows{k: dy.count, width: x.count}}
	g.summed = c.sumOnly(c.node.Out[0])
	c.summed[dw] = g.summed
	return whole(func(f *frame) error {
		roundX(f)
		roundDy(f)
		for _, n := range f.rows {
			g.windows.prepare(n)
		}
		leaves, held := f.members()
		nodes := g.nodes(leaves, held)
		panels := g.windows.rows(1).Panels()
		f.each(len(nodes)*panels, func(w *worker, task int) {
			t := denseTask{denseGradient: g, f: f, held: held, panel: task % panels}
			t.width = g.windows.rows(1).PanelWidth(t.panel)
			t.room = w.floats(bits.Len(uint(leaves)+1) * dy.count * t.width)
			t.sum(nodes[task/panels])
		})
		return nil
	})
}

// denseGradient is the weight gradient of a dense product.
type denseGradient struct {
	x, dy, dw *value
	windows   *denseWindows
	// summed says that nothing but the sum over replicas reads the gradient:
	// it is then summed along the tree while in the cache, and the value of a
	// node is left where that of its first replica with rows belongs.
	summed bool
}

// nodes returns the nodes of the tree over the replicas that are made here.
func (g *denseGradient) nodes(leaves int, held []int) []collective.Node {
	if g.summed {
		return collective.Cover(leaves, held)
	}
	nodes := make([]collective.Node, len(held))
	for i, r := range held {
		nodes[i] = collective.Node{From: r, To: r + 1}
	}
	return nodes
}

// denseTask computes one panel of the gradient of one node.
type denseTask struct {
	*denseGradient
	f            *frame
	held         []int
	panel, width int
	room         []float32 // one block of sums for each level of the tree
}

// block returns the sums of a level.
func (t *denseTask) block(level int) []float32 {
	n := t.dy.count * t.width
	return t.room[level*n : (level+1)*n]
}

// sum computes a node and writes it to its place.
func (t *denseTask) sum(n collective.Node) {
	first := t.eval(n, 0)
	if first < 0 && t.summed { // no replica has rows: the node is absent
		return
	}
	if first < 0 {
		first, _ = slices.BinarySearch(t.held, n.From)
		clear(t.block(0))
	}
	to, sums := row(t.f.f32(t.dw), t.dw, first)[t.panel*kernel.PanelLanes:], t.block(0)
	real := min(t.width, t.x.count-t.panel*kernel.PanelLanes)
	for o := range t.dy.count {
		copy(to[o*t.x.count:], sums[o*t.width:][:real])
	}
}

// eval computes a node in the block of a level. It returns the first replica
// of the node with rows, counted among those held; -1 if there is none.
func (t *denseTask) eval(n collective.Node, level int) (first int) {
	if n.Leaf() {
		r, _ := slices.BinarySearch(t.held, n.From)
		if t.f.rows[r] == 0 {
			return -1
		}
		t.leaf(r, t.block(level))
		return r
	}
	left, right := n.Children()
	first = t.eval(left, level)
	if first < 0 {
		return t.eval(right, level)
	}
	if t.eval(right, level+1) >= 0 {
		t.f.kernels.Add(t.block(level), t.block(level), t.block(level+1))
	}
	return first
}

// leaf computes the sums of replica r.
func (t *denseTask) leaf(r int, sums []float32) {
	in, grad := t.f.f32(t.dy), t.f.slack(t.x)
	clear(sums)
	for from := 0; from < t.f.rows[r]; from += denseRows {
		first, n := t.f.starts[r]+from, min(denseRows, t.f.rows[r]-from)
		t.f.kernels.Gradient(t.windows.rows(n), 0, t.panel, sums, in[first*t.dy.count:],
			grad[first*t.x.count:], 0, t.dy.count, 0, n)
	}
}
