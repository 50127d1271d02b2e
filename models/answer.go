package models

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Answer is the meaning of a model's outputs.
type Answer int

// The answers. With Logits, Probabilities and Binary the classes exclude each other.
const (
	Values             Answer = iota // numbers that are not known to be scores of classes
	Logits                           // scores that a softmax turns into probabilities
	Probabilities                    // a probability for each class
	Binary                           // the probability of the second of two classes
	LabelLogits                      // logits of labels that do not exclude each other
	LabelProbabilities               // probabilities of labels that do not exclude each other
	Numbers                          // a number for each label, in the units of the data
	Boxes                            // rows for slots: see graph.BoxForm
)

// Answer returns the meaning of the given outputs of m together, and the number of the
// output that it refers to. Outputs are given by their numbers in the graph. First the
// graph decides:
//
//   - An output of C >= 2 numbers that ends in a softmax over all of them: Probabilities. The same holds
//     for two outputs if one is the softmax of the other.
//   - An output that ends in a sigmoid: Binary if it is one number; LabelProbabilities if there is a name
//     for each number, because these labels do not exclude each other; otherwise Values.
//   - An output that ends in a log-softmax over all numbers: Logits.
//   - An output that training has named outputLabels or outputNumbers: LabelLogits or Numbers.
//   - A first output with a graph.BoxForm: Boxes.
//
// Any other output of C >= 2 numbers is Logits if it was trained as logits (the model has a
// recipe), if its name ends in "logits" as in the zoo, if there are labels for C classes,
// or if a dense layer or a convolution computes 1000 or 1001 numbers, the classes of
// ImageNet. Everything else is Values: several outputs, one number, maps, and the outputs
// of a Tail.
func (m *Model) Answer(outputs ...int) (Answer, int) {
	f := m.Graph.Main
	if m.Tail != nil {
		return Values, outputs[0]
	}
	if len(outputs) == 2 {
		if k, ok := softmaxOfOther(f, outputs); ok && m.Scores(k) {
			return Probabilities, k
		}
	}
	if len(outputs) != 1 {
		return Values, outputs[0]
	}
	k := outputs[0]
	op, _ := f.OutputOp(k)
	sigmoid := op == graph.Sigmoid || op == graph.HardSigmoid
	switch name := f.Outputs[k].Name; {
	case name == outputLabels && m.line(k):
		return LabelLogits, k
	case k == 0 && m.BoxForm() != "":
		return Boxes, k
	case name == outputNumbers && m.line(k) && len(m.Labels) == m.outputElements(k):
		return Numbers, k
	case op == graph.Sigmoid && m.Scores(k) && len(m.Labels) == m.outputElements(k):
		return LabelProbabilities, k
	case sigmoid && m.outputElements(k) == 1:
		return Binary, k
	case sigmoid || !m.Scores(k):
		return Values, k
	case op == graph.Softmax:
		return Probabilities, k
	case op == graph.LogSoftmax || m.classifies(k):
		return Logits, k
	}
	return Values, k
}

// softmaxOfOther returns the one of two outputs that is the softmax of the other.
func softmaxOfOther(f *graph.Function, outputs []int) (int, bool) {
	for i, k := range outputs {
		if op, of := f.OutputOp(k); op == graph.Softmax && of == f.Outputs[outputs[1-i]].Value {
			return k, true
		}
	}
	return 0, false
}

// line reports whether an output is f32 [K].
func (m *Model) line(output int) bool {
	t := m.outputType(output)
	return t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) == 1
}

// Scores reports whether an output has the form of scores: at least two
// numbers in a row.
func (m *Model) Scores(output int) bool {
	t := m.outputType(output)
	return t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) > 0 && t.Shape[0] > 1 &&
		t.Shape[0] == m.outputElements(output)
}

func (m *Model) outputType(output int) graph.Type {
	return m.Computed(output).Type
}

func (m *Model) outputElements(output int) int { return tensor.Count(m.outputType(output).Shape) }

// classifies reports whether an output in the form of scores is logits, by other evidence
// than the graph's ending.
func (m *Model) classifies(output int) bool {
	n := m.outputElements(output)
	return len(m.Recipe) > 0 && output == 0 || len(m.Labels) == n ||
		strings.HasSuffix(strings.ToLower(m.Graph.Main.Outputs[output].Name), "logits") ||
		(n == 1000 || n == 1001) && m.EndsWithProduct(output)
}

// EndsWithProduct reports whether an output comes from a dense layer or a convolution, followed
// only by pooling, relu, reshapes and constants.
func (m *Model) EndsWithProduct(output int) bool {
	f := m.Graph.Main
	for v := f.Outputs[output].Value; ; {
		i := slices.IndexFunc(f.Nodes, func(n graph.Node) bool { return slices.Contains(n.Out, v) })
		if i < 0 {
			return false
		}
		n := &f.Nodes[i]
		switch n.Op {
		case graph.Dense, graph.Conv:
			return true
		case graph.Add:
			if f.Values[n.In[1]].Type.Kind != graph.Whole {
				return false
			}
		case graph.Reshape, graph.GlobalAvgPool, graph.AvgPool, graph.Relu, graph.Affine, graph.Dropout:
		default:
			return false
		}
		v = n.In[0]
	}
}

// HasArgmax reports whether scores or probabilities of classes have a largest one: no score is NaN,
// and the largest is finite. A logit of -Inf among others is a probability of 0, and allowed.
func HasArgmax[F float32 | float64](scores []F) bool {
	top := slices.Max(scores) // NaN if one is
	return tensor.IsFinite(top)
}
