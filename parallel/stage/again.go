package stage

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// A value that is recomputed for the backward pass is computed in the stage of its layer. A later stage
// cannot wait for it, because the backward pass of that stage comes first. The value that crossed in
// the forward pass has the same bits, so the later stage keeps it:
//
//	forward    conv    ->  bn   --across:bn-->  relu
//	backward           bn.again     kept:bn ->  relu.again  ->  ...

// again is the suffix of the names of values that graph.Recompute computes again.
const again = ".again"

// readAgain makes later stages read the value that crossed, and removes recomputed nodes
// that are then unread.
func (c *trainingCut) readAgain() {
	f, first := *c.fn, map[string]graph.Value{}
	f.Nodes = slices.Clone(f.Nodes)
	c.fn = &f
	for i := range f.Nodes {
		for _, v := range f.Nodes[i].Out {
			first[f.Values[v].Name] = v
		}
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		n.In = slices.Clone(n.In)
		for k, v := range n.In {
			if v == graph.None || c.maker[v] < 0 || c.stage[c.maker[v]] >= c.stage[i] || c.phase[i] == forward {
				continue
			}
			at := strings.LastIndex(f.Values[v].Name, again)
			if o, ok := first[f.Values[v].Name[:max(at, 0)]]; ok && c.phase[c.maker[o]] == forward {
				n.In[k] = o
			}
		}
	}
	c.leaveUnread()
}

// leaveUnread removes recomputed nodes from their pass if their results are never read.
func (c *trainingCut) leaveUnread() {
	read := make([]bool, len(c.fn.Values))
	for _, o := range c.fn.Outputs {
		read[o.Value] = true
	}
	for i, n := range slices.Backward(c.fn.Nodes) {
		isRead := slices.ContainsFunc(n.Out, func(v graph.Value) bool { return read[v] })
		if c.phase[i] != forward && !isRead && strings.Contains(c.fn.NodeName(&n)+".", again+".") {
			c.phase[i] = unread
			continue
		}
		for _, v := range n.In {
			if v != graph.None {
				read[v] = true
			}
		}
	}
}
