package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
)

// batchAxisAfter returns the batch axis in the results of a node with operands that have
// the batch on any axis.
func batchAxisAfter(c *node.Node, op string) (node.BatchAxis, error) {
	rule := table[op].batch
	if rule == nil || c.Opset < 7 && c.Attribute("axis") != nil && c.Int("broadcast", 0) != 0 {
		return node.BatchAxis{}, node.ErrMixes
	}
	p, err := rule(c)
	if c.Err != nil {
		err = c.Err
	}
	return p, err
}

// resolveBatch sets the batch axis of results. A result with the batch as its first axis
// becomes an ordinary value of the graph again, with one row for each sample.
func (c *call) resolveBatch(out []node.Value, p node.BatchAxis) {
	if c.Err != nil {
		return
	}
	for i := range out {
		if out[i].IsConstant() {
			continue
		}
		out[i].BatchAxis = p
		if p == node.OfRows {
			out[i].V = c.withoutFirst(out[i].V)
		}
	}
	c.Unbatched = p != node.OfRows
}
