package gpu

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// exchangeOps exchange values with the other members of the group.
var exchangeOps = map[graph.Op]func(c *compiler){graph.AllReduce: buildAllReduce}

// buildAllReduce lowers all-reduces. Consecutive all-reduces are one exchange, on all members of the group.
// The last of them adds the step for the exchange.
func buildAllReduce(c *compiler) {
	for _, x := range c.fn.Exchanges() {
		if c.fn.Nodes[x.To-1].Out[0] != c.node.Out[0] {
			continue
		}
		lane := collective.Moments
		if !x.Read {
			lane = collective.Gradients
		}
		a := &exchange{lane: lane}
		most := 0
		for i := x.From; i < x.To; i++ {
			n := &c.fn.Nodes[i]
			r := newReduced(c.fn.values[n.In[0]], c.fn.values[n.Out[0]], n.Text("of") == "moments")
			a.nodes, most = append(a.nodes, r), max(most, r.to.size())
		}
		c.exe.partials.bytes = max(c.exe.partials.bytes, most)
		c.steps, c.fn.exchanges = append(c.steps, a), true
	}
}

// reduced is one value that an exchange sums or merges.
type reduced struct {
	from, to *value
	op       collective.Op
	kernel   string
	n        int // number of threads for each node of the tree
}

func newReduced(from, to *value, moments bool) reduced {
	r := reduced{from: from, to: to, op: collective.Sum, kernel: "tree_sum32", n: to.count}
	switch {
	case moments:
		r.op, r.kernel, r.n = collective.MergeMoments, "tree_moments", to.count/2
	case to.DType == tensor.F64:
		r.kernel = "tree_sum64"
	}
	return r
}

// exchange combines values. On the device, it combines the values of the device's replicas along the
// canonical tree. On the host, it then combines the results with the results of the other members. If the
// device has all replicas, the host has nothing to do.
type exchange struct {
	nodes []reduced
	lane  collective.Lane
}

func (x *exchange) run(f *frame) error {
	cover, local := f.cover, f.local
	if f.alone() {
		return x.alone(f, len(cover))
	}
	values := make([]collective.Reduction, len(x.nodes))
	for i, n := range x.nodes {
		if err := n.combine(f, len(cover), f.exe.partials); err != nil {
			return err
		}
		values[i] = collective.Reduction{Op: n.op, Result: tensor.New(n.to.DType, n.to.Shape...)}
		for k, node := range cover {
			p := collective.Partial{Node: node}
			if f.rowsOf(node, local) > 0 {
				p.Value = tensor.New(n.to.DType, n.to.Shape...)
				if err := f.exe.backend.read(p.Value.Bytes, f.exe.partials.buffer, k*n.to.size()); err != nil {
					return err
				}
			}
			values[i].Partials = append(values[i].Partials, p)
		}
	}
	if err := f.exchange(x, values); err != nil {
		return err
	}
	for i, n := range x.nodes {
		if err := f.exe.backend.driver.Write(n.to.buffer(), 0, values[i].Result.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// onHost reports whether the host has work in this exchange, besides launches.
func (x *exchange) onHost(f *frame) bool { return !f.alone() || len(f.cover) == 0 }

// alone reports whether no other device takes part in the exchanges of this run.
func (f *frame) alone() bool { return f.group == nil || f.group.Alone() }

// alone stores the results without other members. If the device has no replicas, the results are zeros.
func (x *exchange) alone(f *frame, nodes int) (err error) {
	for _, n := range x.nodes {
		if nodes == 0 {
			err = f.exe.backend.driver.Write(n.to.buffer(), 0, make([]byte, n.to.size()))
		} else {
			err = n.combine(f, nodes, n.to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// combine launches the kernel that combines a value at the given number of nodes of the tree.
func (r reduced) combine(f *frame, nodes int, to any) error {
	if nodes == 0 || r.n == 0 {
		return nil
	}
	l := &launch{kernel: r.kernel, args: []any{r.from, to, f.exe.tree, f.exe.starts, r.n}}
	return f.launch(l, [2]int{(r.n + Threads - 1) / Threads, nodes}, int32(0))
}

// exchange exchanges the values with all members.
func (f *frame) exchange(x *exchange, values []collective.Reduction) error {
	g := f.group
	tag := collective.Tag{Generation: g.Generation, Step: f.number, Lane: x.lane,
		Sequence: f.sequence[x.lane], Name: x.nodes[0].from.name}
	f.sequence[x.lane]++
	defer func(began time.Time) { f.blocked += time.Since(began) }(time.Now())
	return g.Exchange.Start(f.ctx, tag, values)()
}

// members returns the number of replicas of the group and the replicas of this device.
func (f *frame) members() (leaves int, local []int) {
	if g := f.group; g != nil {
		return g.Leaves(), g.Replicas[g.Rank]
	}
	for r := range f.rows {
		local = append(local, r)
	}
	return len(f.rows), local
}

// uploadTree finds the nodes of the tree that this device covers, and writes a table to the device: its
// replicas at each of these nodes. It does not write a table that the device already has.
func (f *frame) uploadTree() error {
	leaves, local := f.members()
	f.cover, f.local = collective.Cover(leaves, local), local
	var nodes []int32
	for _, n := range f.cover {
		first, _ := slices.BinarySearch(local, n.From)
		nodes = append(nodes, int32(first), int32(n.To-n.From))
	}
	if len(nodes) == 0 || slices.Equal(f.exe.nodes, nodes) {
		return nil
	}
	f.exe.nodes = nil
	if err := f.exe.backend.driver.Write(f.exe.tree.buffer, 0, tensor.Of(nodes, len(nodes)).Bytes); err != nil {
		return err
	}
	f.exe.nodes = nodes
	return nil
}

// rowsOf returns the number of rows of the replicas of a node. All of these replicas
// are on this device.
func (f *frame) rowsOf(n collective.Node, local []int) (rows int) {
	first, _ := slices.BinarySearch(local, n.From)
	for i := range n.To - n.From {
		rows += f.rows[first+i]
	}
	return rows
}
