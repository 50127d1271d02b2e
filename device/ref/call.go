package ref

import "github.com/bnctl/bnctl/graph"

// call is one node whose operands are there and whose results are zeros to be
// filled by its loop.
type call struct {
	*frame
	*graph.Node
	err error // of a node that its operands make impossible
}

// in returns operand i, nil if it is absent.
func (c *call) in(i int) *array {
	if i >= len(c.In) || c.In[i] == graph.None {
		return nil
	}
	return c.values[c.In[i]]
}

// out returns result i.
func (c *call) out(i int) *array { return c.values[c.Out[i]] }
