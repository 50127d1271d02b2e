package answer

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// threshold is the probability above which a label that does not exclude others holds.
const threshold = 0.5

// sigmoids is computed in float64 and rounded once.
func sigmoids(logits []float32) []float32 {
	p := make([]float32, len(logits))
	for i, v := range logits {
		p[i] = float32(Sigmoid(float64(v)))
	}
	return p
}

// Sigmoid returns the probability of a logit, NaN for NaN.
func Sigmoid(v float64) float64 {
	if e := tensor.Exp(-math.Abs(v)); v < 0 {
		return e / (1 + e)
	} else {
		return 1 / (1 + e) // NaN for NaN
	}
}

// Several reports whether the model decides for each label whether it holds, independently
// of others.
func (a *Answers) Several() bool {
	return !a.Raw && (a.Answer == models.LabelLogits || a.Answer == models.LabelProbabilities)
}

// Numbers reports whether the model predicts a number for each label.
func (a *Answers) Numbers() bool { return !a.Raw && a.Answer == models.Numbers }

// Holding returns the labels with a probability above a half, the surest first, from all
// outputs of the model for a sample. It is for answers that are Several. The error is a
// *NotFinite.
func (a *Answers) Holding(outs []tensor.Tensor) ([]Class, error) {
	all := *a
	all.Top = outs[a.Scores].Count()
	best, err := all.Best(outs)
	return slices.DeleteFunc(best, func(c Class) bool { return c.P <= threshold }), err
}

// Value is a number of a prediction.
type Value struct {
	Label string // its name: see Label
	Index int    // its number among the answers, from 0
	Value float32
}

// Values returns the numbers of all outputs of the model for a sample, in the units of the data. It
// is for answers that are Numbers. The error is a *NotFinite.
func (a *Answers) Values(outs []tensor.Tensor) (all []Value, err error) {
	for i, v := range outs[a.Scores].F32() {
		if !tensor.IsFinite(v) {
			return nil, &NotFinite{a.Name(a.Scores)}
		}
		all = append(all, Value{Label(a.Model, i), i, v})
	}
	return all, nil
}

// Words formats the result of Best for people: "cat 91.2 %". For labels that do not exclude
// each other it formats Holding, or the surest one if no label holds; for numbers it formats
// Values: "age 41.5". The errors are theirs.
func (a *Answers) Words(outs []tensor.Tensor) ([]string, error) {
	if a.Numbers() {
		return a.wordsOfNumbers(outs)
	}
	best, err := a.Best(outs)
	if err == nil && a.Several() {
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

// nothingHolds names the surest label of a sample without a label that holds.
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
