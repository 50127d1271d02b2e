package operations

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// buildAllReduce reduces this node and the all-reduces that follow it in one
// exchange: the first of them does it for all.
func buildAllReduce(c *run.Compiler) run.Action {
	first := c.Index
	if c.Follows[result(c, first)] {
		return nil
	}
	lane := collective.Moments
	if c.Closing[result(c, first)] {
		lane = collective.Gradients
	}
	var nodes []reduced
	for i := first; i == first || i < len(c.Fn.Nodes) && c.Follows[result(c, i)]; i++ {
		n := &c.Fn.Nodes[i]
		r := reduced{from: c.Fn.Known[n.In[0]], to: c.Fn.Known[n.Out[0]], op: collective.Sum}
		if n.Text("of") == "moments" {
			r.op = collective.MergeMoments
		}
		r.summed = c.Summed[r.from]
		nodes = append(nodes, r)
	}
	c.After = append(c.After, func() {
		for i := range nodes {
			n := &nodes[i]
			n.free = n.from.Slot != nil && n.from.Slot.To == n.to.Slot.From && !slices.Contains(c.Kept,
				n.from.Slot)
			if lane == collective.Moments {
				n.to.Slot.From = start(c, first) // the layout knows where it is waited for
				continue
			}
			end := len(c.Fn.Groups) + 1 // it may be under way until then
			n.to.Slot.To = end
			if n.from.Slot != nil {
				n.from.Slot.To = end
			}
		}
	})
	return &run.Exchange{Begin: func(f *run.Frame) error { return allReduce(f, nodes, lane) },
		Await: (*run.Frame).Await}
}

// start returns the time of the group in which the exchange of a node begins.
func start(c *run.Compiler, node int) int {
	return 1 + slices.IndexFunc(c.Fn.Groups, func(g *run.Group) bool { return slices.Contains(g.Nodes, node) })
}

// result returns the first result of node i, None if it has none.
func result(c *run.Compiler, i int) graph.Value {
	if out := c.Fn.Nodes[i].Out; len(out) > 0 {
		return out[0]
	}
	return graph.None
}

// reduced is one value of an exchange.
type reduced struct {
	from, to *run.Value
	op       collective.Op
	summed   bool // the parts are complete already
	free     bool // nobody reads from afterwards: it may be overwritten
}

// allReduce combines the subtrees that this device holds, and then meets the
// other members of the group. It does not wait: await does, and for gradients
// settle.
func allReduce(f *run.Frame, nodes []reduced, lane collective.Lane) error {
	leaves, held := f.Members()
	values := make([]collective.Reduction, len(nodes))
	var pieces []piece
	for i := range nodes {
		values[i], pieces = reduction(f, &nodes[i], leaves, held, pieces)
	}
	f.Each(len(pieces), func(_ *run.Worker, i int) { pieces[i].reduce() })
	if g := f.Group; g != nil && !g.Alone() {
		tag := collective.Tag{Generation: g.Generation, Step: f.Number, Lane: lane, Sequence: f.Sequence[lane],
			Name: nodes[0].from.Name}
		f.Sequence[lane]++
		defer f.Block(time.Now())
		if wait := g.Exchange.Start(f.Ctx, tag, values); lane == collective.Moments {
			f.Waiting = wait
		} else {
			f.Pending = append(f.Pending, wait)
		}
		return nil
	}
	for _, v := range values {
		if len(v.Parts) == 1 && !v.Parts[0].Value.IsZero() { // the root of the tree
			copy(v.Result.Bytes, v.Parts[0].Value.Bytes)
		} else {
			clear(v.Result.Bytes)
		}
	}
	return nil
}

// reduction returns the reduction of one value, whose parts are complete when
// the pieces that it adds to the list are done.
func reduction(f *run.Frame, n *reduced, leaves int, held []int, pieces []piece) (
	collective.Reduction, []piece) {
	out := collective.Reduction{Op: n.op, Result: tensorOf(n.to, f.Bytes(n.to))}
	replicas := f.Bytes(n.from)
	if !n.free {
		replicas = slices.Clone(replicas)
	}
	leaf := func(replica int) []byte {
		i, _ := slices.BinarySearch(held, replica)
		if f.Rows[i] == 0 {
			return nil
		}
		return replicas[i*n.from.Size() : (i+1)*n.from.Size()]
	}
	for _, node := range collective.Cover(leaves, held) {
		part := collective.Part{Node: node}
		for r := node.From; r < node.To && part.Value.IsZero(); r++ {
			if b := leaf(r); b != nil { // Reduce leaves the sum in the first value
				part.Value = tensorOf(n.to, b)
			}
		}
		out.Parts = append(out.Parts, part)
		if !part.Value.IsZero() && !node.Leaf() && !n.summed {
			pieces = n.cut(pieces, node, leaf)
		}
	}
	return out, pieces
}

// tensorOf returns a tensor of the type of v over these bytes.
func tensorOf(v *run.Value, b []byte) tensor.Tensor {
	return tensor.Tensor{DType: v.DType, Shape: v.Shape, Bytes: b}
}

// piece is the reduction of a range of bytes of one node of the tree.
type piece struct {
	*reduced
	node     collective.Node
	leaf     func(replica int) []byte
	from, to int
}

// cut adds the pieces of one node: moments are merged whole, sums are cut.
func (n *reduced) cut(pieces []piece, node collective.Node, leaf func(int) []byte) []piece {
	size, step := n.to.Size(), 32<<10
	if n.op == collective.MergeMoments {
		step = size
	}
	for from := 0; from < size; from += step {
		pieces = append(pieces, piece{n, node, leaf, from, min(from+step, size)})
	}
	return pieces
}

// reduce combines the leaves of the piece's node in place.
func (p *piece) reduce() {
	collective.Reduce(p.op, p.node, func(replica int) tensor.Tensor {
		b := p.leaf(replica)
		if b == nil {
			return tensor.Tensor{}
		}
		return tensorOf(p.reduced.to, b[p.from:p.to])
	})
}
