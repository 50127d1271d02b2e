package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/node"
)

func init() {
	register(operators{
		"SequenceErase": {attributes: accept(2, ""), refused: "a place that is not constant",
			structure: sequenceNode(eraseItem)},
	})
}

// eraseItem returns the sequence of operand 0 without the value at the index of operand 1, which is the
// last index by default.
func eraseItem(c *call) node.Value {
	items := readItems(c)
	at := len(items) - 1
	if c.Has(1) {
		at = readPosition(c, 1, len(items)-1)
	}
	if c.Err == nil && at < 0 {
		c.Fail("the sequence is empty")
	}
	if c.Err != nil {
		return node.Value{}
	}
	return sequenceOf(slices.Delete(slices.Clone(items), at, at+1))
}
