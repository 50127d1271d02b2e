package evaluation

import (
	"encoding/json"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
	"math"
	"strconv"
	"strings"
)

// Loss is the loss function of a model in training and evaluation, without the parts that only training has:
// weights and smoothing. The zero value is cross-entropy.
type Loss struct {
	Of    string    // name of the loss: losses.CrossEntropy, losses.BinaryCrossEntropy and so on
	Delta float64   // delta of losses.HuberError
	Std   []float64 // deviation of each target, for losses of numbers; nil: 1
}

// IsNumeric reports whether l is a loss for data with numbers instead of labels.
func (l Loss) IsNumeric() bool {
	return l.Of != losses.CrossEntropy && l.Of != losses.BinaryCrossEntropy && !l.IsBoxes()
}

// IsBoxes reports whether l is a loss for data with boxes instead of labels.
func (l Loss) IsBoxes() bool { return l.Of == losses.Boxes || l.IsMatched() }

// IsMatched reports whether l uses the predictions to assign objects to cells.
func (l Loss) IsMatched() bool { return l.Of == losses.YOLOX }

// LossOf returns the loss in the recipe of a template. If the recipe has none, for example in a model of
// another program, it returns the usual loss for the kind of labels in the data.
func LossOf(recipe json.RawMessage, info data.Info) Loss {
	var r struct {
		Loss string    `json:"loss"`
		Std  []float64 `json:"target_std"`
	}
	_ = json.Unmarshal(recipe, &r) // the recipe may be from another program
	l, err := ParseLoss(r.Loss)
	if l.Std = r.Std; err != nil || l.IsNumeric() != (info.Targets != nil) || len(r.Std) != len(info.Targets) {
		l = Loss{}
	}
	switch {
	case info.Boxes && !l.IsBoxes():
		l = Loss{Of: losses.Boxes}
	case info.Boxes:
	case info.MultiLabel:
		l = Loss{Of: losses.BinaryCrossEntropy}
	case info.Targets != nil && l.Of == "":
		l = Loss{Of: losses.SquaredError}
	}
	return l
}

// ParseLoss reads Recipe.Loss.
func ParseLoss(text string) (Loss, error) {
	name, delta, given := strings.Cut(text, ":")
	l := Loss{Of: name}
	switch name {
	case losses.CrossEntropy, losses.BinaryCrossEntropy, losses.SquaredError, losses.AbsoluteError,
		losses.Boxes, losses.YOLOX:
		if !given {
			return l, nil
		}
	case losses.HuberError:
		if l.Delta = 1; !given {
			return l, nil
		}
		var err error
		if l.Delta, err = strconv.ParseFloat(delta, 64); err == nil && l.Delta > 0 && l.Delta <= 1e6 {
			return l, nil
		}
		return l, problem.New("loss", strconv.Quote(text), "want huber or huber:DELTA, more than 0 and at most "+
			"1000000", "")
	}
	return l, problem.New("loss", strconv.Quote(text), "want squared, absolute or huber[:DELTA] for numbers, "+
		"binary for labels that do not exclude each other, boxes or yolox for boxes, or none for classes", "")
}

// scale returns the factor by which the error of target k is multiplied.
func (j *Loss) scale(k int) float64 {
	if k < len(j.Std) {
		return 1 / j.Std[k]
	}
	return 1
}

// Padded returns labels [N, n] that do not exclude each other as labels [N, outputs], for a model with more
// than n outputs. The additional labels are unknown.
func Padded(labels tensor.Tensor, outputs int) tensor.Tensor {
	n := labels.Shape[1]
	if n == outputs {
		return labels
	}
	out := tensor.New(tensor.I32, labels.Shape[0], outputs)
	for i := range out.I32() {
		if out.I32()[i] = -1; i%outputs < n {
			out.I32()[i] = labels.I32()[i/outputs*n+i%outputs]
		}
	}
	return out
}

// Accuracy returns the share of labels that were predicted, or NaN if labels are numbers or boxes, which have
// no accuracy.
func (l Loss) Accuracy(met, counted float64) Figure {
	if l.IsNumeric() || l.IsBoxes() {
		return Figure(math.NaN())
	}
	return Figure(quotient(met, counted))
}

// Probabilities reports whether a model's first output holds probabilities (graph.Function.OutputOp) instead
// of logits. Training then computes the loss from the operand of the softmax, or of the sigmoid of labels
// that do not exclude each other.
func (l Loss) Probabilities(g *graph.Graph) bool {
	op, _ := g.Main.OutputOp(0)
	return l.Of == losses.CrossEntropy && op == graph.Softmax ||
		l.Of == losses.BinaryCrossEntropy && op == graph.Sigmoid
}

// error returns the loss for the difference r of a prediction and its target. r is in units of the target's
// deviation.
func (l *Loss) error(r float64) float64 {
	switch a := math.Abs(r); {
	case l.Of == losses.AbsoluteError:
		return a
	case l.Of != losses.HuberError:
		return float64(r * r)
	case a <= l.Delta:
		return float64(r*r) / 2
	default:
		return float64(l.Delta * (a - float64(l.Delta/2)))
	}
}
