package evaluation

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/tensor"
)

// TrainingLoss is a loss together with the parts that only training has: weights and smoothing.
type TrainingLoss struct {
	Loss
	Smoothing  float64
	PosWeights []float64 // weights of the positives of each label; nil: 1
}

// weights returns the weights of log(p) and of log(1-p) in the loss, where p is the predicted probability of
// label k.
func (j *TrainingLoss) weights(k int, label int32) (positive, negative float64) {
	if label < 0 {
		return 0, 0
	}
	q := float64(j.Smoothing / 2)
	if label == 1 {
		q = 1 - q
	}
	if positive, negative = q, 1-q; j.PosWeights != nil {
		positive *= j.PosWeights[k]
	}
	return positive, negative
}

// Inputs returns the inputs that the training function has in addition to labels [N, K], for a loss that is
// computed element by element.
func (j *TrainingLoss) Inputs(labels tensor.Tensor) map[string]tensor.Tensor {
	k := labels.Shape[1]
	a, b := tensor.New(tensor.F32, labels.Shape...), tensor.New(tensor.F32, labels.Shape...)
	for i, label := range labels.I32() {
		x, y := &a.F32()[i], &b.F32()[i]
		if !j.IsNumeric() {
			positive, negative := j.weights(i%k, label)
			*x, *y = float32(positive), float32(negative)
		} else if v := data.Number(label); v == v {
			*x, *y = v, float32(j.scale(i%k))
		}
	}
	if j.IsNumeric() {
		return map[string]tensor.Tensor{losses.InputTarget: a, losses.InputScale: b}
	}
	return map[string]tensor.Tensor{losses.InputPositive: a, losses.InputNegative: b}
}

// CountKnown returns the number of labels that are known.
func (j *TrainingLoss) CountKnown(labels []int32) float64 {
	n := 0
	for _, label := range labels {
		if v := data.Number(label); j.IsNumeric() && v == v || !j.IsNumeric() && label != -1 {
			n++
		}
	}
	return float64(n)
}
