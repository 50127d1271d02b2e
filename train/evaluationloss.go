package train

import (
	"encoding/json"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
	"math"
	"strconv"
	"strings"
)

// Loss is the measure of a model's answers in training and evaluation, without the parts of
// training alone: weights and smoothing. The zero value is cross-entropy.
type Loss struct {
	Of    string    // parallel.CrossEntropy, parallel.BinaryCrossEntropy and so on
	delta float64   // of parallel.HuberError
	Std   []float64 // of losses of numbers: the deviation of each target; nil: 1
}

// numbers reports whether l is about numbers in the place of labels.
func (l Loss) numbers() bool {
	return l.Of != parallel.CrossEntropy && l.Of != parallel.BinaryCrossEntropy
}

// LossOf returns the loss in the recipe of a template. The default, for example for models
// of other programs, is the loss for the data.
func LossOf(recipe json.RawMessage, info data.Info) Loss {
	var r struct {
		Loss string    `json:"loss"`
		Std  []float64 `json:"target_std"`
	}
	_ = json.Unmarshal(recipe, &r) // of another program
	l, err := parseLoss(r.Loss)
	if l.Std = r.Std; err != nil || l.numbers() != (info.Targets != nil) || len(r.Std) != len(info.Targets) {
		l = Loss{}
	}
	switch {
	case info.MultiLabel:
		l = Loss{Of: parallel.BinaryCrossEntropy}
	case info.Targets != nil && l.Of == "":
		l = Loss{Of: parallel.SquaredError}
	}
	return l
}

// parseLoss reads Recipe.Loss.
func parseLoss(text string) (Loss, error) {
	name, delta, given := strings.Cut(text, ":")
	l := Loss{Of: name}
	switch name {
	case parallel.CrossEntropy, parallel.BinaryCrossEntropy, parallel.SquaredError, parallel.AbsoluteError:
		if !given {
			return l, nil
		}
	case parallel.HuberError:
		if l.delta = 1; !given {
			return l, nil
		}
		var err error
		if l.delta, err = strconv.ParseFloat(delta, 64); err == nil && l.delta > 0 && l.delta <= 1e6 {
			return l, nil
		}
		return l, problem.New("loss", strconv.Quote(text), "want huber or huber:DELTA, more than 0 and at most "+
			"1000000", "")
	}
	return l, problem.New("loss", strconv.Quote(text), "want squared, absolute or huber[:DELTA] for numbers, "+
		"binary for labels that do not exclude each other, or none for classes", "")
}

// scale returns the factor of the error of target k.
func (j *Loss) scale(k int) float64 {
	if k < len(j.Std) {
		return 1 / j.Std[k]
	}
	return 1
}

// padded returns labels [N, n] that do not exclude each other, for a model with more
// outputs. The additional labels are unknown.
func padded(labels tensor.Tensor, outputs int) tensor.Tensor {
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

// accuracy returns the share of labels that were met, or NaN for numbers, which are never
// met.
func (l Loss) accuracy(met, counted float64) Figure {
	if l.numbers() {
		return Figure(math.NaN())
	}
	return Figure(share(met, counted))
}

// Probabilities reports whether a model's first output holds probabilities
// (graph.Function.OutputOp): training then computes the loss from the logits before the
// softmax, or the sigmoid of labels that do not exclude each other.
func (l Loss) Probabilities(g *graph.Graph) bool {
	op, _ := g.Main.OutputOp(0)
	return l.Of == parallel.CrossEntropy && op == graph.Softmax ||
		l.Of == parallel.BinaryCrossEntropy && op == graph.Sigmoid
}

// error returns the loss of one error, in units of the deviation.
func (l *Loss) error(r float64) float64 {
	switch a := math.Abs(r); {
	case l.Of == parallel.AbsoluteError:
		return a
	case l.Of != parallel.HuberError:
		return float64(r * r)
	case a <= l.delta:
		return float64(r*r) / 2
	default:
		return float64(l.delta * (a - float64(l.delta/2)))
	}
}
