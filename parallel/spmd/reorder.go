package spmd

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Each exchange costs a round trip, so a few large ones are better than many small ones.
// An exchange that no other node waits for is free while the devices compute:
//
//	as written    bn1 X bn2 X ... grad3 X grad2 X grad1 X
//	reordered     bn1, bn2 (independent) X ... grad3 grad2 [X bucket] grad1 [X bucket]
//
// Gradients leave in buckets, as soon as one is full, while the backward pass continues
// (the gradient bucketing of PyTorch's DistributedDataParallel).

// reorder returns f with its nodes in an order that makes its exchanges fewer and lets the
// long ones run while the devices compute: neighbouring layers that are independent
// exchange together, and gradients leave in buckets as soon as there are enough of them.
// Results are the same, bit for bit.
func reorder(f *graph.Function, table []graph.State) (*graph.Function, error) {
	c := graph.NewCopier(f, graph.NewBuilder(f.Name, &table))
	c.Inputs()
	for _, i := range bucketed(f, mergeExchanges(f)) {
		c.Copy(&f.Nodes[i])
	}
	c.Outputs()
	return c.Builder.Function()
}

// A bucket is a fraction of all gradients, but at least leastBucket.
const (
	buckets     = 16
	leastBucket = 256 << 10 // minimum bytes of a bucket
)

// bucketed returns the nodes of order with early all-reduces for the values that no other node reads,
// for example gradients. As soon as a bucket is full, its all-reduce follows the node that filled the
// bucket. It must not follow another all-reduce, because it would be part of that exchange.
func bucketed(f *graph.Function, order []int) []int {
	closing, bytes := map[int]bool{}, map[int]int{}
	total := 0
	for _, e := range f.Exchanges() {
		for i := e.From; i < e.To && !e.Read; i++ {
			closing[i], bytes[i] = true, sizeOf(f, f.Nodes[i].Out[0])
			total += bytes[i]
		}
	}
	full := max(leastBucket, total/buckets)
	waiting := map[graph.Value][]int{} // the all-reduces that wait for a value
	for i := range f.Nodes {
		if v := f.Nodes[i].In; closing[i] {
			waiting[v[0]] = append(waiting[v[0]], i)
		}
	}
	order = slices.DeleteFunc(order, func(i int) bool { return closing[i] })
	var out, bucket []int
	size := 0
	for at, i := range order {
		out = append(out, i)
		for _, v := range f.Nodes[i].Out {
			for _, k := range waiting[v] {
				bucket, size = append(bucket, k), size+bytes[k]
			}
		}
		meets := f.Nodes[i].Op == graph.AllReduce || at+1 < len(order) && f.Nodes[order[at+1]].Op == graph.AllReduce
		if size >= full && !meets {
			out, bucket, size = append(out, bucket...), nil, 0
		}
	}
	return append(out, bucket...)
}

// sizeOf returns the bytes of a whole value.
func sizeOf(f *graph.Function, v graph.Value) int {
	n := f.Values[v].Type.DType.Size()
	for _, d := range f.Values[v].Type.Shape {
		n *= d
	}
	return n
}

// mergeExchanges returns the nodes of f in a new order. It postpones every all-reduce that
// some node waits for, together with its dependents, until all other nodes are done. The
// postponed all-reduces form one exchange.
func mergeExchanges(f *graph.Function) []int {
	read, order := map[int]bool{}, make([]int, len(f.Nodes))
	for i := range order {
		order[i] = i
	}
	for _, e := range f.Exchanges() {
		for i := e.From; i < e.To; i++ {
			read[i] = e.Read
		}
	}
	var out []int
	for len(order) > 0 {
		blocked := map[graph.Value]bool{}
		var meet, later []int
		for _, i := range order {
			n := &f.Nodes[i]
			switch {
			case slices.ContainsFunc(n.In, func(v graph.Value) bool { return blocked[v] }):
				later = append(later, i)
			case read[i]:
				meet = append(meet, i)
			default:
				out = append(out, i)
				continue
			}
			for _, v := range n.Out {
				blocked[v] = true
			}
		}
		out, order = append(out, meet...), later
	}
	return out
}
