package gpu

import (
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// exchangeOps exchange with the other members of the group.
var exchangeOps = map[graph.Op]func(c *compiler){graph.AllReduce: buildAllReduce}

// buildAllReduce reduces this node and the all-reduces that follow it in one
// exchange, as all members do: the last of them does it for all.
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
		for i := x.From; i < x.To; i++ {
			n := &c.fn.Nodes[i]
			r := reduced{from: c.fn.values[n.In[0]], to: c.fn.values[n.Out[0]], op: collective.Sum}
			if n.Text("of") == "moments" {
				r.op = collective.MergeMoments
			}
			a.nodes = append(a.nodes, r)
		}
		c.steps = append(c.steps, a)
	}
}

// reduced is one value of an exchange.
type reduced struct {
	from, to *value
	op       collective.Op
}

// exchange is a step on the host: it combines what the replicas of this device
// have along the canonical tree, and then exchanges with the other members.
type exchange struct {
	nodes []reduced
	lane  collective.Lane
}

func (x *exchange) run(f *frame) error {
	leaves, local := f.members()
	values := make([]collective.Reduction, len(x.nodes))
	for i, n := range x.nodes {
		replicas, err := f.output(n.from)
		if err != nil {
			return err
		}
		values[i] = n.reduction(f, replicas, leaves, local)
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

// exchange brings the results of all members together, or of this one alone.
func (f *frame) exchange(x *exchange, values []collective.Reduction) error {
	g := f.group
	if g != nil && !g.Alone() {
		tag := collective.Tag{Generation: g.Generation, Step: f.number, Lane: x.lane,
			Sequence: f.sequence[x.lane], Name: x.nodes[0].from.name}
		f.sequence[x.lane]++
		defer func(began time.Time) { f.blocked += time.Since(began) }(time.Now())
		return g.Exchange.Start(f.ctx, tag, values)()
	}
	for _, v := range values {
		if len(v.Partials) == 1 { // the root of the tree
			copy(v.Result.Bytes, v.Partials[0].Value.Bytes)
		}
	}
	return nil
}

// members returns the number of replicas of the group and those of this device.
func (f *frame) members() (leaves int, local []int) {
	if g := f.group; g != nil {
		return g.Leaves(), g.Replicas[g.Rank]
	}
	for r := range f.rows {
		local = append(local, r)
	}
	return len(f.rows), local
}

// reduction combines the largest subtrees whose replicas this device has.
func (n reduced) reduction(f *frame, replicas tensor.Tensor, leaves int, local []int) collective.Reduction {
	out := collective.Reduction{Op: n.op, Result: tensor.New(n.to.DType, n.to.Shape...)}
	at := map[int]int{}
	for i, r := range local {
		at[r] = i
	}
	for _, node := range collective.Cover(leaves, local) {
		sum := collective.Reduce(n.op, node, func(r int) tensor.Tensor {
			i := at[r]
			if f.rows[i] == 0 {
				return tensor.Tensor{}
			}
			replica := replicas.Rows(i, i+1)
			replica.Shape = n.to.Shape
			return replica
		})
		out.Partials = append(out.Partials, collective.Partial{Node: node, Value: sum})
	}
	return out
}
