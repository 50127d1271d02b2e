package losses

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// These are the additional inputs and outputs of the training function for mixed samples:
// two losses, weighted row by row.
const (
	InputPartners         = "partners"              // rows i32[...]: labels of the sample mixed into a row
	InputFraction         = "fraction"              // rows f32[]: weight of the loss of the row's labels
	InputPartnersFraction = "partners_fraction"     // rows f32[]: weight of the loss of the partner's labels
	OutputPartnersLoss    = step.OutputPartnersLoss // whole f64[1]: see package step
)

// crossEntropy declares the inputs of the loss, and computes it from logits of that shape.
func (t *tape) crossEntropy(logits graph.Value, shape []int) Nodes {
	labels := t.labels(shape[1:])
	inverse := t.inverse()
	loss := func(name string, labels, weight graph.Value) graph.Value {
		return t.Builder.Op(graph.SoftmaxXent, name, []graph.Value{logits, labels, weight}, t.lossAttrs()...)
	}
	gradient := func(name string, logits, labels, weight graph.Value) graph.Value {
		return t.Builder.Op(graph.SoftmaxXentGrad, name, []graph.Value{logits, labels, inverse, weight},
			t.lossAttrs()...)
	}
	if !t.loss.Mixed {
		return Nodes{loss("loss", labels, graph.None), "sum", graph.None,
			t.Builder.Op(graph.Correct, "correct", []graph.Value{logits, labels}), graph.None,
			func(name string, logits graph.Value) graph.Value {
				return gradient(name, logits, labels, graph.None)
			}}
	}
	partners := t.Builder.Input(InputPartners, t.Builder.Type(labels))
	perRow := graph.Type{Kind: graph.Rows, DType: tensor.F32}
	fraction, rest := t.Builder.Input(InputFraction, perRow), t.Builder.Input(InputPartnersFraction, perRow)
	return Nodes{loss("loss", labels, fraction), "sum", loss("loss.partners", partners, rest),
		t.Builder.Op(graph.Correct, "correct", []graph.Value{logits, labels}), graph.None,
		func(name string, logits graph.Value) graph.Value {
			return t.Builder.Op(graph.Add, name, []graph.Value{gradient(name+".labels", logits, labels, fraction),
				gradient(name+".partners", logits, partners, rest)})
		}}
}

func (t *tape) lossAttrs() []any {
	return []any{"smoothing", t.loss.Smoothing, "weights", t.loss.Weights, "weighted_targets",
		t.loss.weightsTargets()}
}
