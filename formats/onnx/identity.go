package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		"Identity": {attributes: accept(1, ""), make: same, fold: fold.One(fold.Identity),
			batch: batchaxis.Same, integers: move | keepBounds, bytes: anyBytes, grows: growAlone,
			traits: followsArgMax | onWeights | preparesInput},
		// seed only matters in training
		"Dropout": {attributes: accept(3, "is_test ratio", "consumed_inputs seed"),
			refused: "training mode, but in train; a mask that is taken, before operator set 12", make: dropouts,
			fold: fold.One(fold.Identity), batch: batchaxis.Same, traits: hasSettings},
		"CastLike": {attributes: accept(2, "", "saturate"), make: castLike, fold: fold.One(fold.Cast),
			batch: batchaxis.Same, grows: growAlone},
	})
}

// same returns the operand, with everything that is known about it.
func same(c *call) []node.Value {
	c.Dynamic(0)
	return []node.Value{c.In[0]}
}

// truth converts operand 0 to truth values.
func truth(c *call) []node.Value {
	if c.Dynamic(0); c.Err != nil || c.In[0].HoldsTruths() {
		return same(c)
	}
	out := node.Rows(c.node(graph.Compare, "", []graph.Value{c.Dynamic(0)}, "of", "not_equal"))
	out.Elements = node.Truths
	return []node.Value{out}
}

// castLike converts a value to the type of the other operand. Floats stay unchanged. Truth
// values become 0 or 1.
func castLike(c *call) []node.Value {
	switch {
	case !c.Has(1):
		c.Fail("operand 1 is absent")
	case c.In[0].IsConstant() && c.Has(0): // it gets the type of the other value
		return []node.Value{node.Constant(fold.CastTo(&c.Node, c.In[0].Tensor, c.In[1].DType()))}
	}
	return castValue(c, findStoredType(c, 1))
}

// dropouts reads a Dropout and, if a node reads it, its mask of retained elements. All
// elements are retained.
func dropouts(c *call) []node.Value {
	out := node.Rows(dropout(c))
	if len(c.Proto.Output) < 2 || c.Err != nil || len(c.readersOf(c.Proto.Output[1])) == 0 {
		return []node.Value{out} // a mask would become a tensor of the model
	}
	if c.Opset < 12 {
		c.Fail("before operator set 12 says not what its mask is in prediction: nothing may take it")
	}
	s := c.Shape(0)
	mask := node.Rows(c.everyRow(c.Dynamic(0), c.number("all", 1), s))
	mask.Elements = node.Truths
	return []node.Value{out, mask}
}

// dropout returns the operand, because elements are dropped only in training. It refuses a node in
// training mode: operand 2 selects the mode, or the attribute is_test in operator set 6.
func dropout(c *call) graph.Value {
	p, ok := c.Scalar("ratio", 1)
	if !ok {
		p = 0.5
	}
	if p == 0 { // a ratio of 0 drops nothing, even in training
		return c.Dynamic(0)
	}
	training, ok := c.Constant(2)
	drops := ok && training.Count() == 1 && training.Bytes[0] != 0 || c.Opset < 7 && c.Int("is_test", 1) == 0
	if drops && !c.forTraining {
		c.Fail("%w", errTrains)
	}
	return c.node(graph.Dropout, "", []graph.Value{c.Dynamic(0)}, "p", shortest(p))
}
