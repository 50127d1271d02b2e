package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// call is one node on its way into the graph. The first error sticks: what is
// asked for after it is empty.
type call struct {
	*reader
	n         *onnxpb.NodeProto
	in        []value
	name      string // of the first result, for the graph
	err       error
	unbatched bool   // the operands from the input, and then the results, have no batch axis in the file
	added     string // the name of a constant that the result has in it: see value
	// mixesBatch says that err is about the batch axis, which is no different from
	// another one where the file fixes the batch to 1.
	mixesBatch bool
}

// maker adds the nodes of an operator and returns its results.
type maker func(*call) []value

// one makes a maker of a function with one result.
func one(f func(*call) graph.Value) maker {
	return func(c *call) []value { return []value{rows(f(c))} }
}

// node reads one node: it is computed if all operands are constants, and
// becomes nodes of the graph otherwise.
func (r *reader) node(n *onnxpb.NodeProto) error {
	if slices.Contains(structural, decode.Operator(n)) {
		return r.structure(n)
	}
	c, err := r.call(n)
	if err != nil {
		return err
	}
	op := decode.Operator(n)
	if slices.ContainsFunc(c.in, func(x value) bool { return x.sequence }) {
		return fmt.Errorf("takes a sequence, of which only parts and joins are supported")
	}
	if c.takesLengths(op) {
		return c.joinLengths(op)
	}
	if _, ok := integerOps[op]; ok {
		return c.integerNode(op)
	}
	if makers[op] == nil && folds[op] == nil {
		return unknown(op)
	}
	c.unpackBytes(op)
	if err := cmp.Or(c.checkGrowing(op), attributes[op].check(c)); err != nil {
		return err
	}
	if err := c.unifyBatch(op); err != nil {
		return err
	}
	out := c.run(op)
	if c.err != nil && c.mixesBatch && !c.unbatched && acceptsUnbatched(op) {
		// What works along the batch axis works on a batch of 1 as a whole, and may for rows.
		whole, err := r.call(n)
		if err != nil {
			return err
		}
		whole.unpackBytes(op)
		whole.batchAsAxis = whole.batchAsAxis || r.batch == 1
		whole.unbatch()
		if out = whole.run(op); whole.err != nil && r.batch != 1 {
			whole.err = c.err
		}
		c = whole
	}
	if err := cmp.Or(c.err, r.g.Err()); err != nil {
		return err
	}
	return c.store(op, out)
}

// unknown is the error of an operator that is not read.
type unknown string

func (u unknown) Error() string { return "operators that are not supported: " + string(u) }

// call returns a node with its operands.
func (r *reader) call(n *onnxpb.NodeProto) (*call, error) {
	c := &call{reader: r, n: n, name: nodeName(n)}
	for _, name := range n.Input {
		x, ok, err := r.operand(name)
		if err != nil {
			return nil, err
		}
		if !ok && name != "" {
			return nil, fmt.Errorf("takes %.80q, which nothing before it makes", name)
		}
		if name == "" {
			x = value{v: graph.None, logits: graph.None}
		}
		c.in = append(c.in, x)
	}
	return c, nil
}

// run computes the results of a node, or adds them to the graph.
func (c *call) run(op string) []value {
	constants := !slices.ContainsFunc(c.in, func(x value) bool { return !x.isConstant() })
	switch {
	case slices.ContainsFunc(c.in, value.isGrowing) || c.takesRows(op):
		return c.grow(op)
	case constants && c.countsRows(op):
		return c.countRows()
	case constants && c.repeatsIntegers(op):
		return c.repeatIntegers()
	case constants && c.expandsToBatch(op):
		return c.expandToBatch()
	case (constants || makers[op] == nil) && folds[op] != nil:
		return c.fold(folds[op])
	case constants || makers[op] == nil:
		c.fail("of constants is not supported")
		return nil
	case c.in[0].fromArgMax:
		c.placesFit(op)
		return []value{c.in[0]}
	case c.unbatched && c.tracked():
		p, err := c.batchAxisAfter(op)
		if err != nil {
			c.fail("%w", err)
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
func (c *call) store(op string, out []value) error {
	c.keepOrigin(op)
	for i, name := range c.n.Output {
		if name == "" {
			continue
		}
		if i >= len(out) {
			continue // using it is the error
		}
		out[i].op, out[i].unbatched = op, c.unbatched
		if err := c.reader.define(name, out[i]); err != nil {
			return err
		}
	}
	return nil
}

// define says what a name of ONNX stands for.
func (r *reader) define(name string, x value) error {
	if _, twice := r.values[name]; twice {
		return fmt.Errorf("makes %.80q a second time", name)
	}
	r.values[name] = x
	return nil
}

func (c *call) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// failAcrossBatch fails because of what works along the batch axis.
func (c *call) failAcrossBatch(format string, args ...any) {
	c.mixesBatch = c.mixesBatch || c.err == nil
	c.fail(format, args...)
}

// has reports whether operand i is there.
func (c *call) has(i int) bool { return i < len(c.n.Input) && c.n.Input[i] != "" }

// dynamic returns operand i, which must be rows.
func (c *call) dynamic(i int) graph.Value {
	if !c.has(i) || c.in[i].isConstant() {
		c.fail("operand %d is not computed from the input", i)
		return graph.None
	}
	return c.in[i].v
}

// shape returns the shape of the rows of operand i.
func (c *call) shape(i int) []int {
	if c.has(i) && c.in[i].grows {
		return c.in[i].c.Shape
	}
	v := c.dynamic(i)
	if v == graph.None {
		return nil
	}
	return c.g.Type(v).Shape
}

// rank returns the rank that operand i, rows, has in the file.
func (c *call) rank(i int) int {
	n := len(c.shape(i))
	if c.unbatched {
		return n
	}
	return n + 1
}

// spatialShape returns the shape of operand i, which must be an image or a line.
func (c *call) spatialShape(i int) []int {
	s := c.shape(i)
	if c.err == nil && len(s) != 2 && len(s) != 3 {
		c.fail("operand %d has the shape %v; images and lines are supported", i, s)
	}
	if c.err != nil {
		return []int{1, 1, 1}
	}
	return s
}

// constant returns operand i, which must be a constant; ok is false if it is absent.
func (c *call) constant(i int) (t tensor.Tensor, ok bool) {
	if !c.has(i) {
		return t, false
	}
	if !c.in[i].isConstant() {
		c.fail("operand %d is computed from the input; a constant is supported", i)
		return t, false
	}
	return c.in[i].c, true
}

// node adds a node to the graph, called after the first result with a suffix.
func (c *call) node(op graph.Op, suffix string, in []graph.Value, pairs ...any) graph.Value {
	if c.err != nil {
		return graph.None
	}
	if c.made++; c.made > maxMade {
		c.fail("makes more than %d nodes of the graph, with those before it", maxMade)
		return graph.None
	}
	v := c.g.Op(op, c.g.UniqueName(c.name+suffix), in, pairs...)
	if v != graph.None && len(c.g.Type(v).Shape) >= tensor.MaxRank { // with the batch
		c.fail("makes a tensor of rank %d; at most %d are supported", len(c.g.Type(v).Shape)+1, tensor.MaxRank)
		return graph.None
	}
	return v
}

// axis returns an axis of the rows of a value of a rank without the batch.
func (c *call) axis(a int64, rank int) int {
	if c.unbatched {
		return c.foldAxis(a, rank)
	}
	if a < 0 {
		a += int64(rank) + 1
	}
	switch {
	case a == 0:
		c.failAcrossBatch("works along the batch axis")
	case a < 0 || a > int64(rank):
		c.fail("axis %d of a tensor of rank %d", a, rank+1)
	default:
		return int(a - 1)
	}
	return 0
}
