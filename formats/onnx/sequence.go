package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"SequenceEmpty": {attributes: accept(0, "", "dtype"),
			structure: sequenceNode(func(c *call) node.Value { return sequenceOf(nil) })},
		"SequenceConstruct": {attributes: accept(node.ManyOperands, ""),
			structure: sequenceNode(func(c *call) node.Value { return sequenceOf(slices.Clone(c.In)) })},
		"SequenceInsert": {attributes: accept(3, ""), refused: "a place that is not constant",
			structure: sequenceNode(func(c *call) node.Value { return sequenceOf(insertItem(c)) })},
		"SequenceAt": {attributes: accept(2, ""), refused: "a place that is not constant",
			structure: sequenceNode(itemAt)},
		"SequenceLength": {attributes: accept(1, ""), structure: sequenceNode(countItems)},
		"SplitToSequence": {attributes: accept(2, "axis keepdims"),
			refused:   "the batch axis; sizes that are not constant",
			structure: sequenceNode(func(c *call) node.Value { return sequenceOf(splitItems(c)) })},
		"ConcatFromSequence": {attributes: accept(1, "axis new_axis"), structure: (*reader).concatItems},
	})
}

// A sequence is a list of values that exists only while the file is read. Values are joined and
// split at indices that are known at that time. The dynamo exporter of PyTorch writes chunk and
// split in this way.

// sequenceNode returns a reader for nodes that compute one value from sequences.
func sequenceNode(f func(*call) node.Value) func(*reader, *onnxpb.NodeProto) error {
	return func(r *reader, n *onnxpb.NodeProto) error {
		c, err := r.sequenceCall(n)
		if err != nil {
			return err
		}
		x := f(c)
		if c.Err != nil {
			return c.Err
		}
		return r.define(n.Output[0], x)
	}
}

// sequenceCall returns a node of sequences with its operands. The node has one result.
func (r *reader) sequenceCall(n *onnxpb.NodeProto) (*call, error) {
	if len(n.Output) != 1 {
		return nil, fmt.Errorf("has %d results, want 1", len(n.Output))
	}
	c, err := r.call(n)
	if err != nil {
		return nil, err
	}
	return c, table[n.OpType].attributes.Check(&c.Node)
}

// sequenceOf returns a sequence.
func sequenceOf(items []node.Value) node.Value {
	return node.Value{V: graph.None, Logits: graph.None, Form: node.Sequence, Items: items}
}

// itemAt returns the value at an index of a sequence.
func itemAt(c *call) node.Value {
	items, at := readItems(c), readPosition(c, 1, len(c.In[0].Items)-1)
	if c.Err != nil {
		return node.Value{}
	}
	return items[at]
}

// countItems returns the number of values in a sequence.
func countItems(c *call) node.Value {
	return node.Constant(tensor.Of([]int64{int64(len(readItems(c)))}))
}

// readItems returns the values of operand 0.
func readItems(c *call) []node.Value {
	if len(c.In) == 0 || !c.In[0].IsSequence() {
		c.Fail("operand 0 is no sequence that the file puts together at known places")
		return nil
	}
	return c.In[0].Items
}

// readPosition returns operand i as an index from 0 to last. Negative operands count from the end.
func readPosition(c *call, i, last int) int {
	if _, ok := c.Constant(i); !ok {
		c.Fail("operand %d is computed from the input; a constant is supported", i)
		return 0
	}
	t, at := c.Integers(i)
	if c.Err != nil || t.Count() != 1 {
		c.Fail("operand %d is %v, want one place", i, t)
		return 0
	}
	k := at(0)
	if k < 0 {
		k += int64(last) + 1
	}
	if k < 0 || k > int64(last) {
		c.Fail("place %d of a sequence of %d", at(0), last+1)
		return 0
	}
	return int(k)
}

func insertItem(c *call) []node.Value {
	items := readItems(c)
	at := len(items)
	if c.Has(2) {
		at = readPosition(c, 2, len(items))
	}
	if c.Err != nil || !c.Has(1) {
		c.Fail("operand 1 is absent")
		return nil
	}
	return slices.Insert(slices.Clone(items), at, c.In[1])
}

// splitItems returns the results of a Split.
func splitItems(c *call) (items []node.Value) {
	dims := c.Dims()
	axis := c.FoldAxis(int64(c.Int("axis", 0)), len(dims))
	if c.Err != nil {
		return nil
	}
	if dims[axis] < 1 || dims[axis] > maxIndices {
		c.FailAcrossBatch("works along the batch axis")
		return nil
	}
	sizes := readChunkSizes(c, dims[axis])
	if c.Err != nil {
		return nil
	}
	split := &onnxpb.NodeProto{OpType: "Split", Input: []string{c.Proto.Input[0], nameTemporary(c, "sizes")},
		Attribute: []*onnxpb.AttributeProto{integerOf("axis", axis)}}
	c.values[split.Input[1]] = node.Constant(tensor.Of(sizes, len(sizes)))
	for i := range sizes {
		split.Output = append(split.Output, nameTemporary(c, fmt.Sprint("part.", i)))
	}
	c.Err = c.reader.node(split)
	for _, name := range split.Output {
		if c.Err == nil && !c.Has(1) && c.Int("keepdims", 1) == 0 {
			name = addReshape(c, "Squeeze", name, axis)
		}
		items = append(items, c.values[name])
	}
	return items
}

// readChunkSizes returns the lengths of the ranges that an axis is split into. The operand is a
// single length for all ranges except the last one, which may be shorter, or a list of lengths.
// Without it each length is 1.
func readChunkSizes(c *call, length int64) []int64 {
	each := int64(1)
	if c.Has(1) {
		if _, ok := c.Constant(1); !ok {
			return nil
		}
		t, at := c.Integers(1)
		if c.Err != nil {
			return nil
		}
		var sizes []int64
		for i := range t.Count() {
			sizes = append(sizes, at(i))
		}
		if len(t.Shape) > 0 {
			return sizes
		}
		each = sizes[0]
	}
	if each < 1 || length/each > maxItems {
		c.Fail("into parts of %d of an axis of %d", each, length)
		return nil
	}
	var sizes []int64
	for ; length > 0; length -= each {
		sizes = append(sizes, min(each, length))
	}
	return sizes
}

const maxItems = 4096 // values of one sequence

// concatItems reads a node that joins the values of a sequence.
func (r *reader) concatItems(n *onnxpb.NodeProto) error {
	c, err := r.sequenceCall(n)
	if err != nil {
		return err
	}
	return concatSequence(c)
}

// concatSequence joins the values of a sequence along an axis, or along a new one.
func concatSequence(c *call) error {
	items := readItems(c)
	if len(items) == 0 {
		c.Fail("of an empty sequence is not supported")
	}
	axis := c.Int("axis", 0)
	concat := &onnxpb.NodeProto{OpType: "Concat", Output: c.Proto.Output,
		Attribute: []*onnxpb.AttributeProto{integerOf("axis", axis)}}
	for i, x := range items {
		name := nameTemporary(c, fmt.Sprint("item.", i))
		if c.values[name] = x; c.Int("new_axis", 0) != 0 {
			name = addReshape(c, "Unsqueeze", name, axis)
		}
		concat.Input = append(concat.Input, name)
	}
	if c.Err != nil {
		return c.Err
	}
	return c.reader.node(concat)
}

// addReshape adds a node that inserts or removes an axis of a value, and returns the
// name of its result.
func addReshape(c *call, op, name string, axis int) string {
	if c.Err != nil {
		return name
	}
	n := &onnxpb.NodeProto{OpType: op, Input: []string{name}, Output: []string{name + "." + op}}
	if c.Opset < 13 {
		list := integerOf("axes", 0)
		list.I, list.Type, list.Ints = nil, onnxpb.AttributeProto_INTS, []int64{int64(axis)}
		n.Attribute = append(n.Attribute, list)
	} else {
		n.Input = append(n.Input, nameTemporary(c, name+".axes"))
		c.values[n.Input[1]] = node.Constant(tensor.Of([]int64{int64(axis)}, 1))
	}
	c.Err = c.reader.node(n)
	return n.Output[0]
}

// nameTemporary returns a name that does not occur in files.
func nameTemporary(c *call, suffix string) string { return c.Proto.Output[0] + "\x00" + suffix }

func integerOf(name string, v int) *onnxpb.AttributeProto {
	i := int64(v)
	return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_INT, I: &i}
}
