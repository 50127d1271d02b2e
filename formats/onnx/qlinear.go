package onnx

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Operators on integers have scales and zero points as operands. Each becomes an operation on bytes if
// the graph has one that computes the same result. Otherwise it becomes the operator of floats, with a
// DequantizeLinear before each operand and a QuantizeLinear after it.

// quantisedOp describes an operator on integers.
type quantisedOp struct {
	bytes  func(*call) (node.Value, bool) // adds the operation on bytes; returns false if the graph has none
	expand func(*expansion)               // reads nodes that compute the same result in floats
	// the operands that are weights; all others but the first are settings
	weights []int
}

const microsoft = "com.microsoft."

// readQuantised reads a node of one of these operators.
func readQuantised(c *call, op string) error {
	if err := table[op].attributes.Check(&c.Node); err != nil {
		return err
	}
	o := table[op].quantised
	if o.bytes != nil && !slices.ContainsFunc(c.In, func(x node.Value) bool {
		return x.Unbatched ||
			x.IsScores()
	}) {
		out, ok := o.bytes(c)
		if err := cmp.Or(c.Err, c.g.Err()); ok || err != nil {
			return cmp.Or(err, c.store(op, []node.Value{out}))
		}
	}
	c.explainFloats(c)
	p := &expansion{call: c}
	o.expand(p)
	return cmp.Or(c.Err, c.g.Err())
}

// byteScale defines the numbers that bytes of the graph represent: byte q is factor*(q - zero). It also has
// the type of the bytes in the file.
type byteScale struct {
	factor float32
	zero   int
	kind   tensor.DType
}

// readByteScale reads a scale and a zero point, given the indices of their operands. otherwise is the
// type without a zero point. ok reports whether there is one scale and one zero point, and the type is
// a type of bytes.
func readByteScale(c *call, scale, zero int, otherwise tensor.DType) (s byteScale, ok bool) {
	of, ok := readFactors(c, scale, 1)
	if !ok {
		return s, false
	}
	s = byteScale{factor: of[0], kind: otherwise}
	if c.Has(zero) {
		at, err := element.IntegersOf(c.In[zero].Tensor)
		if !c.In[zero].IsConstant() || err != nil || len(at) != 1 {
			return s, false
		}
		s.kind, s.zero = c.In[zero].Tensor.DType, int(at[0])
	}
	more, ok := shift[s.kind]
	s.zero += more
	return s, ok
}

// readFactors returns the scales in operand i, which has one or n of them. ok reports whether all can
// be used as factors.
func readFactors(c *call, i, n int) (factors []float32, ok bool) {
	if !c.Has(i) || !c.In[i].IsConstant() || c.In[i].Tensor.DType != tensor.F32 {
		return nil, false
	}
	if factors = c.In[i].Tensor.F32(); len(factors) == 1 {
		factors = slices.Repeat(factors, n)
	}
	return factors, len(factors) == n && !slices.ContainsFunc(factors,
		func(v float32) bool { return !isFactor(v) })
}

// isFactor reports whether a positive number is finite and not subnormal.
func isFactor(v float32) bool { return v >= 0x1p-126 && v <= math.MaxFloat32 }

// findKind returns the type of the integers in operand i, which are bytes of the graph or
// depend on the input.
func findKind(c *call, i int) tensor.DType { return cmp.Or(c.In[i].Kind, tensor.U8) }

// canBeBytes reports whether operand i is stored as bytes of a type, or can be converted to them.
func canBeBytes(c *call, i int, kind tensor.DType) bool {
	x := c.In[i]
	return c.Has(i) && !x.IsConstant() && !x.Unbatched && (x.HoldsBytes() || x.HoldsIntegers()) &&
		(x.Kind == 0 || x.Kind == kind)
}

// toBytes returns operand i as bytes. canBeBytes must have accepted it.
func toBytes(c *call, i int, kind tensor.DType) graph.Value {
	if x := c.In[i]; x.HoldsBytes() {
		return x.V
	}
	return c.node(graph.Quantize, ".bytes", []graph.Value{c.In[i].V}, "scale", 1.0, "zero", shift[kind])
}

// bytesOf returns v as bytes of a type.
func bytesOf(v graph.Value, kind tensor.DType) node.Value {
	return node.Value{V: v, Logits: graph.None, Elements: node.Bytes, Kind: kind}
}

// countQuantised records the form in which a file is quantised.
func (r *reader) countQuantised() {
	count := map[string]int{}
	for _, n := range r.src.Node {
		op := decode.Operator(n)
		if table[op].quantised != nil || op == "QuantizeLinear" || op == "DequantizeLinear" {
			count[n.OpType]++
		}
	}
	if len(count) > 0 {
		r.file.Count("quantised", quantisedForm(count))
	}
}

// quantiseMarks classifies the operands of quantised nodes as weights, or as scales of
// weights.
func quantiseMarks(n *onnxpb.NodeProto, weight, setting func(name string)) (known bool) {
	o := table[decode.Operator(n)].quantised
	if o == nil && n.OpType != "DequantizeLinear" && n.OpType != "QuantizeLinear" {
		return false
	}
	for i, name := range n.Input {
		if i == 0 || o != nil && slices.Contains(o.weights, i) {
			weight(name)
		} else {
			setting(name)
		}
	}
	return true
}

// quantisedForm names the operators that a file is quantised with.
func quantisedForm(count map[string]int) string {
	form, list := "QDQ", []string{}
	for _, op := range slices.Sorted(maps.Keys(count)) {
		if op != "QuantizeLinear" && op != "DequantizeLinear" {
			form, list = "QOperator", append(list, fmt.Sprintf("%d %s", count[op], op))
		}
	}
	for _, op := range []string{"QuantizeLinear", "DequantizeLinear"} {
		list = append(list, fmt.Sprintf("%d %s", count[op], op))
	}
	return form + ": " + strings.Join(list, ", ")
}

// expansion reads the nodes that replace an operator. The results of these nodes are named after the
// node, with a number.
type expansion struct {
	*call
	count int
}
