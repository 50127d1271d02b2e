package answer

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// threshold is the probability above which a label that does not exclude others holds, in a model without
// thresholds.
const threshold = 0.5

// sigmoids returns the sigmoid of each logit, computed in float64 and rounded once.
func sigmoids(logits []float32) []float32 {
	p := make([]float32, len(logits))
	for i, v := range logits {
		p[i] = float32(models.Sigmoid(float64(v)))
	}
	return p
}

// Several reports whether several labels may hold: the model decides about each independently
// of others.
func (a *Answers) Several() bool {
	return !a.Raw && (a.Answer == models.LabelLogits || a.Answer == models.LabelProbabilities)
}

// Numbers reports whether the model predicts a number for each label.
func (a *Answers) Numbers() bool { return !a.Raw && a.Answer == models.Numbers }

// Decides reports whether some labels hold, and others do not: the answers are Several, or the model has
// thresholds.
func (a *Answers) Decides() bool {
	return a.Several() || !a.Raw && !a.Numbers() && a.thresholds() != nil
}

// thresholds returns the thresholds of the model, or nil if there are none for the scores.
func (a *Answers) thresholds() []float64 {
	if a.Answer == models.Binary || a.inGraph(a.Scores) != 0 {
		return nil
	}
	return a.Model.Thresholds
}

// Holding returns the labels that hold, the surest first. outs are all outputs of the model for a sample. A
// label holds if its probability is at least the model's threshold, or above a half if the model has no
// thresholds. The answers must be answers that Decide. The error is a *NotFinite.
func (a *Answers) Holding(outs []tensor.Tensor) ([]Class, error) {
	all := *a
	all.Top = outs[a.Scores].Count()
	best, err := all.Best(outs)
	return slices.DeleteFunc(best, func(c Class) bool { return !a.holds(c) }), err
}

func (a *Answers) holds(c Class) bool {
	if t := a.thresholds(); t != nil {
		return float64(c.P) >= t[c.Index]
	}
	return c.P > threshold
}

// Value is a number of a prediction.
type Value struct {
	Label string // name: see Label
	Index int    // number among the answers, from 0
	Value float32
}

// Values returns the numbers of all outputs of the model for a sample, in the units of the data. The
// answers must be Numbers. The error is a *NotFinite.
func (a *Answers) Values(outs []tensor.Tensor) (values []Value, err error) {
	for i, v := range outs[a.Scores].F32() {
		if !tensor.IsFinite(v) {
			return nil, &NotFinite{a.Name(a.Scores)}
		}
		values = append(values, Value{Label(a.Model, i), i, v})
	}
	return values, nil
}

// Words formats the result of Best for people: "cat 91.2 %". For answers that Decide it formats Holding, or
// the surest label if no label holds. For numbers it formats Values: "age 41.5". It returns the errors of
// Best, Holding or Values.
func (a *Answers) Words(outs []tensor.Tensor) ([]string, error) {
	if a.Numbers() {
		return a.wordsOfNumbers(outs)
	}
	best, err := a.Best(outs)
	if err == nil && a.Decides() {
		if best, err = a.Holding(outs); len(best) == 0 {
			return a.nothingHolds(outs), err
		}
	}
	return inWords(best), err
}

func (a *Answers) wordsOfNumbers(outs []tensor.Tensor) (words []string, err error) {
	all, err := a.Values(outs)
	for _, v := range all {
		words = append(words, v.Label+" "+strconv.FormatFloat(float64(v.Value), 'g', 6, 32))
	}
	return words, err
}

// nothingHolds returns a text with the surest label of a sample without a label that holds.
func (a *Answers) nothingHolds(outs []tensor.Tensor) []string {
	one := *a
	one.Top = 1
	surest, _ := one.Best(outs)
	return []string{"none (" + inWords(surest)[0] + ")"}
}

func inWords(best []Class) (words []string) {
	for _, k := range best {
		words = append(words, fmt.Sprintf("%s %.1f %%", k.Label, 100*k.P))
	}
	return words
}
