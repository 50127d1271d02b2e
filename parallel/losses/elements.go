package losses

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// These inputs of the training function, other than labels, are rows f32 [K] for K outputs.
// An element that does not count is 0 in InputPositive and InputNegative, or in InputScale.
const (
	InputPositive = "positive" // weight of log(sigmoid(x)): 1 where the label holds
	InputNegative = "negative" // weight of log(1 - sigmoid(x)): 1 where the label does not hold
	InputTarget   = "target"   // the correct number
	InputScale    = "scale"    // factor of the error of the prediction: 1/deviation
)

// elementLoss is the loss of each element of an output, f32 [K], and its derivative. The
// gradient is the derivative times 1/denominator.
type elementLoss struct{ elements, slope graph.Value }

// elementLoss returns a loss that is added up over the elements of outputs. Its sum follows from
// the moments of the elements: for each of the K elements, the mean times the number of rows.
func (t *tape) elementLoss(outputs graph.Value, shape []int) (n Nodes, err error) {
	if len(shape) != 1 {
		return n, fmt.Errorf("output %s of graph %s is %v; a loss of single elements needs one axis",
			t.From.Outputs[0].Name, t.From.Name, t.Builder.Type(outputs))
	}
	n.Of, n.Hits, n.Partners, n.Positives = "moments", graph.None, graph.None, graph.None
	if t.loss.Of == BinaryCrossEntropy {
		n.Hits = t.metLabels(outputs, t.labels(shape))
	}
	inverse := t.inverse()
	first := t.elements("loss", outputs)
	n.Sum = t.op(graph.Moments, "loss.moments", []graph.Value{first.elements})
	n.Seed = func(name string, of graph.Value) graph.Value {
		l := first
		if of != outputs {
			l = t.elements(name, of)
		}
		return t.op(graph.Mul, name, []graph.Value{l.slope, inverse})
	}
	return n, nil
}

// elements returns the loss of each element of outputs.
func (t *tape) elements(name string, outputs graph.Value) elementLoss {
	if t.loss.Of == BinaryCrossEntropy {
		return t.binaryCrossEntropy(name, outputs)
	}
	return t.numberError(name, outputs)
}

// binaryCrossEntropy computes positive*softplus(-x) + negative*softplus(x). Its derivative
// is negative*sigmoid(x) - positive*sigmoid(-x).
func (t *tape) binaryCrossEntropy(name string, x graph.Value) elementLoss {
	shape := t.Builder.Type(x).Shape
	positive, negative := t.input(InputPositive, shape), t.input(InputNegative, shape)
	opposite := t.op(graph.Affine, name+".opposite", []graph.Value{x}, "by", -1.0)
	weighed := func(what string, of graph.Op) (graph.Value, graph.Value) {
		missed := t.op(of, name+".missed."+what, []graph.Value{opposite})
		wrong := t.op(of, name+".wrong."+what, []graph.Value{x})
		return t.op(graph.Mul, name+".positive."+what, []graph.Value{positive, missed}),
			t.op(graph.Mul, name+".negative."+what, []graph.Value{negative, wrong})
	}
	p, n := weighed("loss", graph.Softplus)
	dp, dn := weighed("slope", graph.Sigmoid)
	return elementLoss{t.op(graph.Add, name+".elements", []graph.Value{p, n}),
		t.op(graph.Sub, name+".slope", []graph.Value{dn, dp})}
}

// numberError computes the loss of r = (y - target)*scale: r*r, |r|, or r*r/2 up to HuberDelta and
// linear from there on.
func (t *tape) numberError(name string, y graph.Value) elementLoss {
	shape := t.Builder.Type(y).Shape
	target, scale := t.input(InputTarget, shape), t.input(InputScale, shape)
	apart := t.op(graph.Sub, name+".apart", []graph.Value{y, target})
	r := t.op(graph.Mul, name+".error", []graph.Value{apart, scale})
	var l elementLoss
	switch t.loss.Of {
	case AbsoluteError:
		opposite := t.op(graph.Affine, name+".opposite", []graph.Value{r}, "by", -1.0)
		above := t.op(graph.Compare, name+".above", []graph.Value{r, graph.None}, "of", "greater")
		below := t.op(graph.Compare, name+".below", []graph.Value{r, graph.None}, "of", "less")
		l = elementLoss{t.op(graph.Max, name+".elements", []graph.Value{r, opposite}),
			t.op(graph.Sub, name+".sign", []graph.Value{above, below})}
	case HuberError:
		d := t.loss.HuberDelta
		near := t.op(graph.Clip, name+".near", []graph.Value{r}, "min", -d, "max", d)
		half := t.op(graph.Affine, name+".half", []graph.Value{near}, "by", 0.5)
		rest := t.op(graph.Sub, name+".rest", []graph.Value{r, half})
		l = elementLoss{t.op(graph.Mul, name+".elements", []graph.Value{near, rest}), near}
	default:
		l = elementLoss{t.op(graph.Mul, name+".elements", []graph.Value{r, r}),
			t.op(graph.Affine, name+".twice", []graph.Value{r}, "by", 2.0)}
	}
	l.slope = t.op(graph.Mul, name+".slope", []graph.Value{l.slope, scale})
	return l
}

// metLabels counts the labels that x predicts correctly. The predicted label is 1 where x is above 0,
// and 0 elsewhere: the first index of the maximum of the pair (0, x).
func (t *tape) metLabels(x, labels graph.Value) graph.Value {
	n := t.Builder.Type(x).Shape[0]
	flat := func(name string, v graph.Value) graph.Value {
		return t.op(graph.Reshape, name, []graph.Value{v}, "shape", []int{1, n})
	}
	zero := t.op(graph.Compare, "correct.zero", []graph.Value{x, x}, "of", "less")
	both := t.op(graph.Concat, "correct.logits",
		[]graph.Value{flat("correct.no", zero), flat("correct.yes", x)}, "axis", 0)
	return t.Builder.Op(graph.Correct, "correct", []graph.Value{both, labels})
}
