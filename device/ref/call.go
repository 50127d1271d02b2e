package ref

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// call is one node with its operands. Its results are zeros until the node's loop sets them.
type call struct {
	*frame
	*graph.Node
	err error // error if the values of the operands are invalid
}

// in returns operand i, or nil if it is absent.
func (c *call) in(i int) *array {
	if i >= len(c.In) || c.In[i] == graph.None {
		return nil
	}
	if c.bf16 && i < factors && slices.Contains(products, c.Op) {
		return c.values[c.In[i]].operand()
	}
	return c.values[c.In[i]]
}

// products are the operations that multiply their first two operands as matrices. A third
// operand is a bias.
var products = []graph.Op{graph.Conv, graph.ConvGradInput, graph.ConvGradWeight, graph.ConvTranspose,
	graph.Dense, graph.DenseGradInput, graph.DenseGradWeight, graph.MatMul}

const factors = 2

// out returns result i.
func (c *call) out(i int) *array { return c.values[c.Out[i]] }
