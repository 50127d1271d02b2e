package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"DynamicQuantizeLinear": {attributes: accept(1, ""),
			quantised: &quantisedOp{expand: (*expansion).dynamic}},
	})
}

// dynamic reads DynamicQuantizeLinear, in which the range of all numbers determines their scale. Here
// each row has a separate range, as in a batch of 1, so that no answer depends on other rows.
func (p *expansion) dynamic() {
	if len(p.Proto.Output) != 3 || !p.Has(0) {
		p.Fail("has %d results, want 3", len(p.Proto.Output))
		return
	}
	if p.Batch > 1 {
		p.Fail("takes its scale from the numbers of all %d rows, so that an answer would depend on the rows "+
			"beside it", p.Batch)
		return
	}
	x, axes := p.Proto.Input[0], []int{}
	p.Unbatched = p.In[0].Unbatched
	for a := range p.Rank(0) {
		if a > 0 || p.Unbatched {
			axes = append(axes, a)
		}
	}
	if p.Batch != 1 {
		p.file.Find(p.Proto.Output[0], "the scale is of the numbers of the whole batch in the file; here each row "+
			"has its own, as in a batch of 1", "")
	}
	number := func(v float32) string { return p.constant(tensor.Scalar(v)) }
	extreme := func(reduce, meet string) string {
		of := p.node(reduce, []string{x}, onnxpb.IntsAttr("axes", axes...), onnxpb.IntAttr("keepdims", 1))
		return p.node(meet, []string{of, number(0)})
	}
	low, high := extreme("ReduceMin", "Min"), extreme("ReduceMax", "Max")
	span := p.node("Sub", []string{high, low})
	dead := p.node("Equal", []string{span, number(0)})
	scale := p.node("Where", []string{dead, number(1), p.node("Div", []string{span, number(255)})})
	first := p.node("Div", []string{p.node("Sub", []string{number(0), low}), scale})
	bounded := func(v string) string { return p.node("Clip", []string{v, number(0), number(255)}) }
	zero := p.node("Round", []string{bounded(first)})
	steps := p.node("Add", []string{p.node("Round", []string{p.node("Div", []string{x, scale})}), zero})
	for i, v := range []string{bounded(steps), scale, zero} {
		if p.Proto.Output[i] != "" {
			p.nodeNamed(p.Proto.Output[i], "Identity", []string{v})
		}
	}
}
