package evaluation

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// LabelCount counts the results of a label that does not exclude other labels. The label is predicted if its
// probability is at least the threshold of the model or, for a model without thresholds, above a half. Scores
// that are not finite are not counted.
type LabelCount struct{ truePositive, falsePositive, falseNegative, trueNegative int }

// Figures returns precision, recall and F1. A figure without a denominator is NaN.
func (c LabelCount) Figures() (precision, recall, f1 Figure) {
	met := float64(c.truePositive)
	predicted, labels := met+float64(c.falsePositive), met+float64(c.falseNegative)
	return fraction(met, predicted), fraction(met, labels), fraction(2*met, predicted+labels)
}

// fraction returns n/total, or NaN if total is 0.
func fraction(n, total float64) Figure {
	if total == 0 {
		return Figure(math.NaN())
	}
	return Figure(n / total)
}

// quotient returns n/total, or 0 if total is 0.
func quotient(n, total float64) float64 {
	if total == 0 {
		return 0
	}
	return n / total
}

// addElements adds N rows of K predictions to the figures: scores f32 [N,K], labels i32 [N,n]. K may be
// larger than n.
func (e *Evaluation) addElements(scores, labels tensor.Tensor, probabilities bool) error {
	n, k := scores.Shape[0], scores.Shape[1]
	if len(scores.Shape) != 2 || len(labels.Shape) != 2 || labels.Shape[0] != n || labels.Shape[1] > k ||
		e.Targets != nil && len(e.Targets) != k {
		return fmt.Errorf("labels are %v for an output of %v", labels, scores)
	}
	if e.MultiLabel {
		labels = Padded(labels, k)
	}
	if e.MultiLabel && e.Labels == nil {
		e.Labels, e.PerClass = make([]LabelCount, k), make([]ClassCount, k)
	}
	z := make([]float64, k)
	for i := range n {
		for j, v := range scores.F32()[i*k : (i+1)*k] {
			if z[j] = float64(v); probabilities {
				z[j] = tensor.Log(max(z[j], 1e-300)) - tensor.Log(max(1-z[j], 1e-300))
			}
		}
		label := labels.I32()[i*k : (i+1)*k]
		if e.MultiLabel {
			e.labelsOf(z, label)
		} else {
			e.numbersOf(z, label)
		}
		if e.observers.ObserveAll != nil {
			e.observers.ObserveAll(e.Samples+i, label, z)
		}
	}
	e.Samples += n
	return nil
}

// labelsOf adds the scores z of a sample and its labels to the counts of each label.
func (e *Evaluation) labelsOf(z []float64, label []int32) {
	judged, exact := false, true
	for k, l := range label {
		if l < 0 {
			continue
		}
		judged = true
		positive, negative := e.loss.weights(k, l)
		e.LossSum += float64(positive*softplus(-z[k])) + float64(negative*softplus(z[k]))
		e.WeightSum++
		e.Counted++
		predicted := models.Holds(e.thresholds, k, z[k])
		met := tensor.IsFinite(z[k]) && predicted == (l == 1)
		exact = exact && met
		if met {
			e.Correct++
		}
		if l == 1 {
			if e.PerClass[k].N++; met {
				e.PerClass[k].Correct++
			}
		}
		if !tensor.IsFinite(z[k]) {
			e.NotFinite++
			continue
		}
		e.Labels[k].add(predicted, l == 1)
	}
	if judged {
		e.Judged++
		if exact {
			e.Exact++
		}
	}
}

func (c *LabelCount) add(predicted, holds bool) {
	switch {
	case predicted && holds:
		c.truePositive++
	case predicted:
		c.falsePositive++
	case holds:
		c.falseNegative++
	default:
		c.trueNegative++
	}
}

// softplus returns log(1 + exp(z)).
func softplus(z float64) float64 { return max(z, 0) + tensor.Log(1+tensor.Exp(-math.Abs(z))) }
