package onnx

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/formats/onnx/internal/qdq"
	"github.com/bnctl/bnctl/tensor"
)

// The operators of domain bnctl are made by package qdq from groups in QDQ form. ONNX Runtime does not
// have them: they have bounds, results of floats, or functions that it does not compute in integers.
func init() {
	bounded := " min max"
	register(operators{
		qdq.Domain + ".QLinearConv": {attributes: accept(9, windowAttributes+" group"+bounded),
			quantised: &quantisedOp{bytes: convBytes, expand: (*expansion).qLinearConv, weights: []int{3, 8}}},
		qdq.Domain + ".QLinearMatMul": {attributes: accept(9, bounded),
			quantised: &quantisedOp{bytes: matMulBytes, expand: (*expansion).qLinearMatMul, weights: []int{3, 8}}},
		qdq.Domain + ".QGemm": {attributes: accept(9, "transB"+bounded),
			quantised: &quantisedOp{bytes: gemmBytes, expand: (*expansion).qGemm, weights: []int{3, 6}}},
		qdq.Domain + ".QLinearAdd": {attributes: accept(8, bounded+" joint"),
			quantised: &quantisedOp{bytes: addBytes, expand: (*expansion).qLinearPair}},
		qdq.Domain + ".QLinearMul": {attributes: accept(8, bounded+" joint"),
			quantised: &quantisedOp{bytes: mulBytes, expand: (*expansion).qLinearPair}},
		qdq.Domain + ".QLinearActivation": {attributes: accept(5, "of alpha beta min max"),
			quantised: &quantisedOp{bytes: lookUpBytes, expand: (*expansion).qLinearActivation}},
	})
}

// useBytes replaces groups in QDQ form by operators of integers.
func (r *reader) useBytes() error {
	if !slices.ContainsFunc(r.src.Node, isDequantise) {
		return nil
	}
	if err := r.computeSettings(); err != nil {
		return err
	}
	g := qdq.Graph{Nodes: r.src.Node, Moves: movesBytes,
		Integers: func(n *onnxpb.NodeProto) bool { return table[decode.Operator(n)].quantised != nil }}
	for _, o := range r.src.Output {
		g.Outputs = append(g.Outputs, o.Name)
	}
	g.Value = func(name string) (tensor.Tensor, bool) {
		x, ok, err := r.operand(name)
		return x.Tensor, ok && err == nil && x.IsConstant()
	}
	result := qdq.Rewrite(g)
	r.inFile, r.src.Node = r.src.Node, result.Nodes
	for name, t := range result.Constants {
		if err := r.define(name, node.Constant(t)); err != nil {
			return err
		}
	}
	r.replaced, r.whyFloats = result.Replaced, result.Reasons
	return nil
}

// inTheFile returns the node of the file that became node i, and its index.
func (r *reader) inTheFile(i int, n *onnxpb.NodeProto) (int, *onnxpb.NodeProto) {
	if m := r.replaced[decode.First(n.Output, "")]; m != nil {
		n = m
	}
	if at := slices.Index(r.inFile, n); at >= 0 {
		i = at
	}
	return i, n
}

// computeSettings computes scales, zero points and integers of weights that nodes compute from constants:
// PyTorch fills and converts zero points, and TensorRT's quantiser stores weights as floats with a
// QuantizeLinear.
func (r *reader) computeSettings() error {
	r.done = make([]bool, len(r.src.Node))
	for i, need := range r.settings() {
		if !need {
			continue
		}
		if _, err := r.compute(i); err != nil {
			return err
		}
	}
	return nil
}

// settings marks the nodes that compute operands of a DequantizeLinear, or the scale and the zero point of a
// QuantizeLinear, from constants.
func (r *reader) settings() []bool {
	fixed, wanted := map[string]bool{"": true}, map[string]bool{}
	for name, x := range r.values {
		fixed[name] = x.IsConstant()
	}
	folds := make([]bool, len(r.src.Node))
	for i, n := range r.src.Node {
		folds[i] = len(n.Output) == 1 && table[decode.Operator(n)].fold != nil && !isDequantise(n) &&
			!slices.ContainsFunc(n.Input, func(name string) bool { return !fixed[name] })
		if folds[i] {
			fixed[n.Output[0]] = true
		}
	}
	for i, n := range slices.Backward(r.src.Node) {
		folds[i] = folds[i] && wanted[n.Output[0]]
		from := len(n.Input)
		switch {
		case isDequantise(n) || folds[i]:
			from = 0
		case strings.HasSuffix(decode.Operator(n), "QuantizeLinear"):
			from = min(1, len(n.Input))
		}
		for _, name := range n.Input[from:] {
			wanted[name] = true
		}
	}
	return folds
}

// movesBytes reports whether each element of a node's result is an element of its first operand, or the
// largest of several.
func movesBytes(n *onnxpb.NodeProto) bool {
	op := decode.Operator(n)
	o := table[op]
	if o.bytes == nil || !o.integers.has(move) || op == "Cast" || op == "Concat" {
		return false
	}
	c := &node.Node{Proto: n}
	switch op {
	case "MaxPool":
		d := c.Attribute("dilations")
		return (len(n.Output) < 2 || n.Output[1] == "") && (d == nil ||
			!slices.ContainsFunc(d.Ints, func(n int64) bool { return n != 1 }))
	case "Resize", "Upsample":
		return c.Text("mode", "nearest") == "nearest" &&
			c.Text("coordinate_transformation_mode", "half_pixel") != cropping
	}
	return true
}

// byteBounds returns the bounds of a type of bytes, as attributes for the graph.
func byteBounds(c *call, kind tensor.DType) []any {
	least, most := rangeOf(kind)
	more := shift[kind]
	return []any{"min", c.Int("min", least) + more, "max", c.Int("max", most) + more}
}

// rangeOf returns the least and the largest integer of a type of bytes.
func rangeOf(kind tensor.DType) (low, high int) {
	if kind == tensor.I8 {
		return -128, 127
	}
	return 0, 255
}

// limited applies the bounds of the node to v. The bounds are numbers, and v is in steps of a scale.
func (p *expansion) limited(v string, step float32, zero int) string {
	if p.Attribute("min") == nil && p.Attribute("max") == nil {
		return v
	}
	at, kind := 0, tensor.U8
	if p.Has(zero) && p.In[zero].IsConstant() {
		kind = p.In[zero].Tensor.DType
		if z, err := element.IntegersOf(p.In[zero].Tensor); err == nil && len(z) == 1 {
			at = int(z[0])
		}
	}
	least, most := rangeOf(kind)
	low := float32(p.Int("min", least)-at) * step
	high := float32(p.Int("max", most)-at) * step
	if p.Opset < clipOperandsSince {
		return p.node("Clip", []string{v}, onnxpb.FloatAttr("min", float64(low)),
			onnxpb.FloatAttr("max", float64(high)))
	}
	return p.node("Clip", []string{v, p.constant(tensor.Scalar(low)), p.constant(tensor.Scalar(high))})
}
