package train

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/tensor"
)

// withPartners adds the inputs of mixed samples: the labels of partners, and the fractions of both labels. A
// fraction is a multiple of 2^-24, so that the fraction and 1 minus the fraction are exact.
func withPartners(rows map[string]tensor.Tensor, b *data.Batch, repeated int) {
	rows[losses.InputPartners] = repeatRows(b.Partners, repeated)
	first, second := tensor.New(tensor.F32, b.X.Shape[0]+repeated), tensor.New(tensor.F32, b.X.Shape[0]+repeated)
	for i := range first.F32() {
		first.F32()[i], second.F32()[i] = b.Fraction, 1-b.Fraction
	}
	rows[losses.InputFraction], rows[losses.InputPartnersFraction] = first, second
}

func isMixed(rows map[string]tensor.Tensor) bool {
	_, ok := rows[losses.InputPartners]
	return ok
}

// weighed returns the denominator of the loss of rows. For mixed rows it is the sum of the
// denominators of their labels and of their partners' labels, each times its fraction.
func (p *plan) weighed(rows map[string]tensor.Tensor) float64 {
	if p.loss.IsBoxes() {
		return positives(rows)
	}
	return byFraction(rows, func(labels tensor.Tensor) float64 { return p.denominator(labels) })
}

// byFraction returns the result of sum for the labels of rows. For mixed rows it returns the sums for
// both labels, weighted by their fractions, which are equal in all rows.
func byFraction(rows map[string]tensor.Tensor, sum func(labels tensor.Tensor) float64) float64 {
	first := sum(rows[losses.InputLabels])
	fraction := rows[losses.InputFraction]
	if !isMixed(rows) || fraction.Count() == 0 {
		return first
	}
	by := float64(fraction.F32()[0])
	return float64(by*first) + float64((1-by)*sum(rows[losses.InputPartners]))
}

// lossInUse returns the training loss of scores, which come from a template in evaluation mode.
func (p *plan) lossInUse(scores tensor.Tensor, rows map[string]tensor.Tensor) (float64, error) {
	if p.loss.IsBoxes() {
		sum, n := p.loss.BoxLosses(p.slots, scores, rows[losses.InputLabels])
		return ratio(sum, n), nil
	}
	first, err := p.evaluated(scores, rows[losses.InputLabels])
	if err != nil || !isMixed(rows) {
		return first.Loss(), err
	}
	second, err := p.evaluated(scores, rows[losses.InputPartners])
	by := float64(rows[losses.InputFraction].F32()[0])
	sum := float64(by*first.LossSum) + float64((1-by)*second.LossSum)
	return ratio(sum, float64(by*first.WeightSum)+float64((1-by)*second.WeightSum)), err
}

func (p *plan) evaluated(scores, labels tensor.Tensor) (*evaluation.Evaluation, error) {
	e := evaluation.NewTraining(p.config.Train.Info(), p.loss, p.classWeights)
	return e, e.Add(scores, labels, p.loss.Probabilities(p.template.Graph))
}
