package run

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/tensor"
)

// run combines the subtrees that this device holds, and then starts the exchange with the
// other members of the group. It does not wait: await does, and for gradients awaitAll.
func (e *Exchange) run(f *Frame) error {
	leaves, local := f.Members()
	values := make([]collective.Reduction, len(e.values))
	var pieces []piece
	for i := range e.values {
		values[i], pieces = reduction(f, &e.values[i], leaves, local, pieces)
	}
	f.Each(len(pieces), func(_ *Worker, i int) { pieces[i].reduce(f.Kernels) })
	if g := f.machine.Group; g != nil && !g.Alone() {
		tag := collective.Tag{Generation: g.Generation, Step: f.number, Lane: e.lane,
			Sequence: f.sequence[e.lane], Name: e.values[0].From.Name}
		f.sequence[e.lane]++
		defer f.block(time.Now())
		if wait := g.Exchange.Start(f.ctx, tag, values); e.lane == collective.Moments {
			f.waiting = wait
		} else {
			f.pending = append(f.pending, wait)
		}
		return nil
	}
	for _, v := range values {
		if len(v.Partials) == 1 && !v.Partials[0].Value.IsZero() { // the node is the root of the tree
			copy(v.Result.Bytes, v.Partials[0].Value.Bytes)
		} else {
			clear(v.Result.Bytes)
		}
	}
	return nil
}

// reduction returns the reduction of one value over the members of the group. Its partial sums are complete
// when the work that it adds to pieces is done.
func reduction(f *Frame, n *Reduced, leaves int, local []int, pieces []piece) (
	collective.Reduction, []piece) {
	out := collective.Reduction{Op: n.Op, Result: tensorOf(n.To, f.Bytes(n.To))}
	replicas := f.Bytes(n.From)
	if !n.free {
		replicas = slices.Clone(replicas)
	}
	leaf := func(replica int) []byte {
		i, _ := slices.BinarySearch(local, replica)
		if f.Rows[i] == 0 {
			return nil
		}
		return replicas[i*n.From.size() : (i+1)*n.From.size()]
	}
	for _, node := range collective.Cover(leaves, local) {
		partial := collective.Partial{Node: node}
		for r := node.From; r < node.To && partial.Value.IsZero(); r++ {
			if b := leaf(r); b != nil { // Reduce stores the sum in the first value
				partial.Value = tensorOf(n.To, b)
			}
		}
		out.Partials = append(out.Partials, partial)
		if !partial.Value.IsZero() && !node.Leaf() && !n.Summed {
			pieces = n.cut(pieces, node, leaf)
		}
	}
	return out, pieces
}

// tensorOf returns a tensor of the type of v over these bytes.
func tensorOf(v *Value, b []byte) tensor.Tensor {
	return tensor.Tensor{DType: v.DType, Shape: v.Shape, Bytes: b}
}

// piece is a part of the work at one node of the tree: the reduction of bytes [from, to) of its value.
type piece struct {
	value    *Reduced
	node     collective.Node
	leaf     func(replica int) []byte
	from, to int
}

// cut adds the pieces of one node to the list. Sums are cut into several pieces, but moments are not.
func (n *Reduced) cut(pieces []piece, node collective.Node, leaf func(int) []byte) []piece {
	size, step := n.To.size(), 32<<10
	if n.Op == collective.MergeMoments {
		step = size
	}
	for from := 0; from < size; from += step {
		pieces = append(pieces, piece{n, node, leaf, from, min(from+step, size)})
	}
	return pieces
}

// reduce combines the values of the piece's replicas in place.
func (p *piece) reduce(kernels *kernel.Set) {
	if p.value.Op == collective.Sum && p.value.To.DType == tensor.F32 {
		p.sum(kernels, p.node)
		return
	}
	collective.Reduce(p.value.Op, p.node, func(replica int) tensor.Tensor {
		b := p.leaf(replica)
		if b == nil {
			return tensor.Tensor{}
		}
		return tensorOf(p.value.To, b[p.from:p.to])
	})
}

// sum does the same as collective.Reduce for float32 sums, by vectors.
func (p *piece) sum(kernels *kernel.Set, n collective.Node) []float32 {
	if n.Leaf() {
		if b := p.leaf(n.From); b != nil {
			return layout.View[float32](b[p.from:p.to])
		}
		return nil
	}
	left, right := n.Children()
	a, b := p.sum(kernels, left), p.sum(kernels, right)
	switch {
	case a == nil:
		return b
	case b != nil:
		kernels.Add(a, a, b)
	}
	return a
}
