package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/formats/onnx/internal/qdq"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// countLayers lists the layers of a quantised file after it has been read: those computed in bytes, and
// those computed in floats with the reason.
func (r *reader) countLayers() {
	inBytes := 0
	for _, n := range r.src.Node {
		result, op := decode.First(n.Output, ""), decode.Operator(n)
		o := table[op].quantised
		reason, float := r.whyFloats[result]
		if o == nil && !float || strings.HasSuffix(op, "antizeLinear") {
			continue
		}
		l := foreign.QuantisedLayer{Name: nodeName(n), Op: strings.TrimPrefix(op, qdq.Domain+"."), Reason: reason}
		if m := r.replaced[result]; m != nil {
			l.Name, l.Op = nodeName(m), decode.Operator(m)
		}
		if l.Bytes = !float; l.Bytes {
			inBytes++
		}
		r.file.Quantised = append(r.file.Quantised, l)
	}
	if inBytes == 0 && r.replaced == nil && !slices.ContainsFunc(r.src.Node, isDequantise) {
		r.file.Quantised = nil
		return
	}
	r.file.Count("integers", r.quantisedText(inBytes))
}

// isDequantise reports whether n is a DequantizeLinear.
func isDequantise(n *onnxpb.NodeProto) bool {
	return strings.HasSuffix(decode.Operator(n), "DequantizeLinear")
}

// quantisedText gives the number of layers in bytes, and names the first layers in floats.
func (r *reader) quantisedText(inBytes int) string {
	text := problem.Plural(inBytes, "layer") + " in bytes"
	const most = 4
	var list []string
	for _, l := range r.file.Quantised {
		if !l.Bytes && len(list) < most {
			list = append(list, fmt.Sprintf("%s (%s: %s)", l.Name, l.Op, l.Reason))
		}
	}
	if n := len(r.file.Quantised) - inBytes; n > 0 {
		text += fmt.Sprintf("; %d in floats: %s", n, strings.Join(list, "; "))
		if n > most {
			text += fmt.Sprintf("; and %d more", n-most)
		}
	}
	return text
}

// explainFloats stores why a node with operands of integers is computed in floats.
func (r *reader) explainFloats(c *call) {
	if r.whyFloats == nil {
		r.whyFloats = map[string]string{}
	}
	if result := decode.First(c.Proto.Output, ""); result != "" {
		r.whyFloats[result] = floatsReason(c)
	}
}

// floatsReason returns the reason why the graph has no operation on bytes for a node.
func floatsReason(c *call) string {
	o := table[decode.Operator(c.Proto)].quantised
	if o.bytes == nil {
		return "there is no operation of bytes for it"
	}
	var maps []int
	for i, x := range c.In {
		constant := c.Has(i) && x.IsConstant()
		switch {
		case slices.Contains(o.weights, i) && c.Has(i) && !constant:
			return "its weight is not constant"
		case constant && slices.Contains(o.weights[:min(1, len(o.weights))], i):
			if reason := weightReason(c, i); reason != "" {
				return reason
			}
		case c.Has(i) && !constant:
			maps = append(maps, i)
		}
		if constant && x.Tensor.DType == tensor.F32 && slices.ContainsFunc(x.Tensor.F32(),
			func(v float32) bool { return !isFactor(v) }) {
			return "one of its scales is subnormal or no positive number"
		}
	}
	if o.weights == nil && len(maps) > 1 && !slices.Equal(c.ShapeOf(c.In[maps[0]]), c.ShapeOf(c.In[maps[1]])) {
		return "the shapes of its operands differ"
	}
	return "no operation of bytes has its shapes, scales and attributes"
}

// weightReason returns the reason why operand i cannot be the weight of an operation on bytes,
// or "" if it can.
func weightReason(c *call, i int) string {
	w := c.In[i].Tensor
	q, err := element.IntegersOf(w)
	if err != nil {
		return "its weight is not integers"
	}
	zero := []int64{0}
	for at := i + 1; at <= i+2 && at < len(c.In); at++ {
		if z := c.In[at]; c.Has(at) && z.IsConstant() && z.Tensor.DType == w.DType {
			zero, _ = element.IntegersOf(z.Tensor)
		}
	}
	each := len(q) / max(1, outputsOf(c, w))
	if len(w.Shape) > 1 && each > graph.MostTerms {
		return fmt.Sprintf("a sum has more than %d products", graph.MostTerms)
	}
	far := int64(0)
	for _, v := range q {
		for _, z := range zero {
			far = max(far, v-z, z-v-1)
		}
	}
	if n := int(max(1, (far+126)/127)); len(w.Shape) > 1 && each*n > graph.MostTerms {
		return fmt.Sprintf("a sum has more than %d products, with weights further than 127 from their zero points",
			graph.MostTerms/n)
	}
	return ""
}

// outputsOf returns the number of output channels of a weight.
func outputsOf(c *call, w tensor.Tensor) int {
	op := decode.Operator(c.Proto)
	if strings.HasSuffix(op, "Conv") || strings.HasPrefix(op, "Conv") || c.Int("transB", 0) != 0 {
		return w.Shape[0]
	}
	return w.Shape[len(w.Shape)-1]
}
