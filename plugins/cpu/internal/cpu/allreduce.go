package cpu

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// buildAllReduce reduces this node and the all-reduces that follow it in one
// exchange: the first of them does it for all.
func buildAllReduce(c *compiler) action {
	first := c.index
	if c.follows[c.result(first)] {
		return action{}
	}
	lane := collective.Moments
	if c.closing[c.result(first)] {
		lane = collective.Gradients
	}
	var nodes []reduced
	for i := first; i == first || i < len(c.fn.Nodes) && c.follows[c.result(i)]; i++ {
		n := &c.fn.Nodes[i]
		r := reduced{from: c.fn.values[n.In[0]], to: c.fn.values[n.Out[0]], op: collective.Sum}
		if n.Text("of") == "moments" {
			r.op = collective.MergeMoments
		}
		r.summed = c.summed[r.from]
		nodes = append(nodes, r)
	}
	c.after = append(c.after, func() {
		for i := range nodes {
			n := &nodes[i]
			n.free = n.from.slot != nil && n.from.slot.to == n.to.slot.from && !slices.Contains(c.kept,
				n.from.slot)
			if lane == collective.Moments {
				n.to.slot.from = c.start(first) // the layout knows where it is waited for
				continue
			}
			end := len(c.fn.groups) + 1 // it may be under way until then
			n.to.slot.to = end
			if n.from.slot != nil {
				n.from.slot.to = end
			}
		}
	})
	return action{once: func(f *frame) error { return f.allReduce(nodes, lane) }, await: (*frame).await}
}

// start returns the time of the group in which the exchange of a node begins.
func (c *compiler) start(node int) int {
	return 1 + slices.IndexFunc(c.fn.groups, func(g *group) bool { return slices.Contains(g.nodes, node) })
}

// result returns the first result of node i, None if it has none.
func (c *compiler) result(i int) graph.Value {
	if out := c.fn.Nodes[i].Out; len(out) > 0 {
		return out[0]
	}
	return graph.None
}

// reduced is one value of an exchange.
type reduced struct {
	from, to *value
	op       collective.Op
	summed   bool // the parts are complete already
	free     bool // nobody reads from afterwards: it may be overwritten
}

// allReduce combines the subtrees that this device holds, and then meets the
// other members of the group. It does not wait: await does, and for gradients
// settle.
func (f *frame) allReduce(nodes []reduced, lane collective.Lane) error {
	leaves, held := f.members()
	values := make([]collective.Reduction, len(nodes))
	var pieces []piece
	for i := range nodes {
		values[i], pieces = f.reduction(&nodes[i], leaves, held, pieces)
	}
	f.each(len(pieces), func(_ *worker, i int) { pieces[i].reduce() })
	if g := f.group; g != nil && !g.Alone() {
		tag := collective.Tag{Generation: g.Generation, Step: f.number, Lane: lane, Sequence: f.sequence[lane],
			Name: nodes[0].from.name}
		f.sequence[lane]++
		defer f.block(time.Now())
		if wait := g.Exchange.Start(f.ctx, tag, values); lane == collective.Moments {
			f.waiting = wait
		} else {
			f.pending = append(f.pending, wait)
		}
		return nil
	}
	for _, v := range values {
		clear(v.Result.Bytes)
		if len(v.Parts) == 1 { // the root of the tree
			copy(v.Result.Bytes, v.Parts[0].Value.Bytes)
		}
	}
	return nil
}

// reduction returns the reduction of one value, whose parts are complete when
// the pieces that it adds to the list are done.
func (f *frame) reduction(n *reduced, leaves int, held []int, pieces []piece) (
	collective.Reduction, []piece) {
	out := collective.Reduction{Op: n.op, Result: tensorOf(n.to, f.bytes(n.to))}
	replicas := f.bytes(n.from)
	if !n.free {
		replicas = slices.Clone(replicas)
	}
	leaf := func(replica int) []byte {
		i, _ := slices.BinarySearch(held, replica)
		if f.rows[i] == 0 {
			return nil
		}
		return replicas[i*n.from.size() : (i+1)*n.from.size()]
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
func tensorOf(v *value, b []byte) tensor.Tensor {
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
	size, step := n.to.size(), 32<<10
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
