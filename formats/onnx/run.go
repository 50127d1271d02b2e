package onnx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// node reads one node. If all operands are constants, its results are computed. Otherwise it becomes
// nodes of the graph.
func (r *reader) node(n *onnxpb.NodeProto) error {
	if read := table[decode.Operator(n)].structure; read != nil {
		return read(r, n)
	}
	c, err := r.call(n)
	if err != nil {
		return err
	}
	op := decode.Operator(n)
	if slices.ContainsFunc(c.In, func(x node.Value) bool { return x.IsSequence() }) {
		return fmt.Errorf("takes a sequence, of which only parts and joins are supported")
	}
	if takesLengths(c, op) {
		return joinLengths(c, op)
	}
	if table[op].quantised != nil {
		return readQuantised(c, op)
	}
	if !table[op].isRead() {
		return unknown(op)
	}
	c.unpackBytes(op)
	if err := cmp.Or(checkGrowing(c, op), table[op].attributes.Check(&c.Node)); err != nil {
		return err
	}
	if err := c.unifyBatch(op); err != nil {
		return err
	}
	c.takeOneRow(op)
	out := c.run(op)
	if c.Err != nil && c.MixesBatch && !c.Unbatched && !table[op].traits.has(needsBatch) {
		// If the batch is 1, a node may work along the batch axis: the operands then become
		// unbatched values. With another batch the operator may also accept them.
		whole, err := r.call(n)
		if err != nil {
			return err
		}
		whole.unpackBytes(op)
		whole.BatchAsAxis = whole.BatchAsAxis || r.shared.Batch == 1
		whole.unbatch()
		if out = whole.run(op); whole.Err != nil && r.shared.Batch != 1 {
			whole.Err = c.Err
		}
		c = whole
	}
	if err := cmp.Or(c.Err, r.g.Err()); err != nil {
		return err
	}
	return c.store(op, out)
}

// unknown is the error for an operator that is not supported.
type unknown string

func (u unknown) Error() string { return "operators that are not supported: " + string(u) }

// call returns a node with its operands.
func (r *reader) call(n *onnxpb.NodeProto) (*call, error) {
	c := &call{reader: r, Node: r.nodeOf(n), name: nodeName(n)}
	for _, name := range n.Input {
		x, ok, err := r.operand(name)
		if err != nil {
			return nil, err
		}
		if !ok && name != "" {
			return nil, fmt.Errorf("takes %.80q, which nothing before it makes", name)
		}
		if name == "" {
			x = node.Value{V: graph.None, Logits: graph.None}
		}
		c.In = append(c.In, x)
	}
	return c, nil
}

// run computes the results of a node, or adds them to the graph.
func (c *call) run(op string) []node.Value {
	o := table[op]
	constants := !slices.ContainsFunc(c.In, func(x node.Value) bool { return !x.IsConstant() })
	switch {
	case slices.ContainsFunc(c.In, node.Value.IsGrowing) || takesRows(c, op):
		return makeGrowing(c, op)
	case constants && countsRows(c, op):
		return countRows(c)
	case constants && repeatsIntegers(c, op):
		return repeatIntegers(c)
	case constants && expandsToBatch(c, op):
		return expandToBatch(c)
	case (constants || o.make == nil) && o.fold != nil:
		return c.fold(o.fold)
	case constants || o.make == nil:
		c.Fail("of constants is not supported")
		return nil
	case c.In[0].IsScores():
		checkPlaces(c, op)
		return []node.Value{c.In[0]}
	case c.Unbatched && c.Tracked():
		p, err := batchAxisAfter(&c.Node, op)
		if err != nil {
			c.Fail("%w", err)
			return nil
		}
		out := c.make(op)
		c.resolveBatch(out, p)
		return out
	}
	return c.make(op)
}

// store stores the results under their names.
func (c *call) store(op string, out []node.Value) error {
	c.keepOrigin(op, out)
	c.keepLift(op, out)
	c.keepSource(out)
	for i, name := range c.Proto.Output {
		if name == "" {
			continue
		}
		if i >= len(out) {
			continue // an error only if a node reads the missing result
		}
		out[i].Op, out[i].Unbatched, out[i].Prepared = op, c.Unbatched, c.prepares(op)
		if err := c.reader.define(name, out[i]); err != nil {
			return err
		}
	}
	return nil
}

// fold computes the results of a node from constants.
func (c *call) fold(f fold.Func) []node.Value {
	var out []node.Value
	for _, t := range f(&c.Node) {
		out = append(out, node.Constant(t))
	}
	if c.Err != nil {
		return nil
	}
	return out
}
