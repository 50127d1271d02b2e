package ref

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// allReduce makes an exchange. The value of a replica without rows is absent: the
// replica's leaf of the tree is empty.
func (f *frame) allReduce(ctx context.Context, e graph.Exchange) error {
	nodes := f.fn.Nodes[e.From:e.To]
	leaves, local := f.members()
	values := make([]collective.Reduction, len(nodes))
	for i, n := range nodes {
		values[i] = f.reduction(n, leaves, local)
	}
	lane := collective.Gradients
	if e.Read {
		lane = collective.Moments
	}
	if err := f.exchange(ctx, lane, f.fn.Values[nodes[0].In[0]].Name, values); err != nil {
		return err
	}
	for i, n := range nodes {
		f.values[n.Out[0]] = fromTensor(f.fn.Values[n.Out[0]].Type, 1, values[i].Result)
	}
	return nil
}

// members returns the number of replicas of the group and the replicas of this device. A
// device without a group has all replicas of its runs.
func (f *frame) members() (leaves int, local []int) {
	if len(f.group.Replicas) > 0 {
		return f.group.Leaves(), f.group.Replicas[f.group.Rank]
	}
	for r := range f.replicas() {
		local = append(local, r)
	}
	return f.replicas(), local
}

// reduction combines the largest subtrees of the canonical tree that consist of replicas of
// this device.
func (f *frame) reduction(n graph.Node, leaves int, local []int) collective.Reduction {
	x := f.values[n.In[0]]
	d := f.stored(x.typ.DType)
	r := collective.Reduction{Op: collective.Sum, Result: tensor.New(d, x.typ.Shape...)}
	if n.Text("of") == "moments" {
		r.Op = collective.MergeMoments
	}
	leaf := func(replica int) tensor.Tensor {
		i, _ := slices.BinarySearch(local, replica)
		if f.first[i] == f.first[i+1] {
			return tensor.Tensor{}
		}
		return x.tensor(d, i, i+1).Reshape(x.typ.Shape...)
	}
	for _, node := range collective.Cover(leaves, local) {
		r.Partials = append(r.Partials, collective.Partial{Node: node, Value: collective.Reduce(r.Op, node, leaf)})
	}
	return r
}

// exchange completes the reductions. If this device holds all replicas, it does so
// here, otherwise with the other members of the group.
func (f *frame) exchange(ctx context.Context, lane collective.Lane, name string,
	values []collective.Reduction) error {
	tag := collective.Tag{
		Generation: f.group.Generation, Step: f.step, Lane: lane, Sequence: f.exchanges[lane], Name: name}
	f.exchanges[lane]++
	if !f.group.Alone() {
		if f.group.Exchange == nil {
			return fmt.Errorf("%s: the group has %d members but no way to meet them", name, len(f.group.Replicas))
		}
		start := time.Now()
		err := f.group.Exchange.Start(ctx, tag, values)()
		f.blocked += time.Since(start)
		return err
	}
	for _, v := range values {
		if len(v.Partials) == 1 && !v.Partials[0].Value.IsZero() { // the partial value is the root of the tree
			copy(v.Result.Bytes, v.Partials[0].Value.Bytes)
		}
	}
	return nil
}
