package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// call is one node on its way into the graph. The first error sticks: what is
// asked for after it is empty.
type call struct {
	*reader
	node.Node
	name  string // of the first result, for the graph
	added string // the name of a constant that the result has in it: see value
}

// maker adds the nodes of an operator and returns its results.
type maker func(*call) []node.Value

// one makes a maker of a function with one result.
func one(f func(*call) graph.Value) maker {
	return func(c *call) []node.Value { return []node.Value{node.Rows(f(c))} }
}

// node reads one node: it is computed if all operands are constants, and
// becomes nodes of the graph otherwise.
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
	out := c.run(op)
	if c.Err != nil && c.MixesBatch && !c.Unbatched && !table[op].traits.has(needsBatch) {
		// What works along the batch axis works on a batch of 1 as a whole, and may for rows.
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

// unknown is the error of an operator that is not read.
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

// nodeName returns the name of a node's first result. Exporters number their
// results, but a layer of weights can be called as its weight is:
// "features.0.conv" for "features.0.conv.weight".
func nodeName(n *onnxpb.NodeProto) string {
	if len(n.Input) > 1 && (n.OpType == "Conv" || n.OpType == "BatchNormalization" || n.OpType == "Gemm") {
		if name, ok := strings.CutSuffix(n.Input[1], ".weight"); ok {
			return foreign.Clean(name, "node")
		}
	}
	if len(n.Output) > 0 {
		return foreign.Clean(n.Output[0], "node")
	}
	return "node"
}

// store gives the results their names.
func (c *call) store(op string, out []node.Value) error {
	c.keepOrigin(op)
	for i, name := range c.Proto.Output {
		if name == "" {
			continue
		}
		if i >= len(out) {
			continue // using it is the error
		}
		out[i].Op, out[i].Unbatched = op, c.Unbatched
		if err := c.reader.define(name, out[i]); err != nil {
			return err
		}
	}
	return nil
}

// define says what a name of ONNX stands for.
func (r *reader) define(name string, x node.Value) error {
	if _, twice := r.values[name]; twice {
		return fmt.Errorf("makes %.80q a second time", name)
	}
	r.values[name] = x
	return nil
}

// node adds a node to the graph, called after the first result with a suffix.
func (c *call) node(op graph.Op, suffix string, in []graph.Value, pairs ...any) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	if c.made++; c.made > maxMade {
		c.Fail("makes more than %d nodes of the graph, with those before it", maxMade)
		return graph.None
	}
	v := c.g.Op(op, c.g.UniqueName(c.name+suffix), in, pairs...)
	if v != graph.None && len(c.g.Type(v).Shape) >= tensor.MaxRank { // with the batch
		c.Fail("makes a tensor of rank %d; at most %d are supported", len(c.g.Type(v).Shape)+1, tensor.MaxRank)
		return graph.None
	}
	return v
}

// fold computes constants.
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
