package train

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// judged is a loss with the parts that only training has.
type judged struct {
	Loss
	smoothing  float64
	posWeights []float64 // of the positives of each label; nil: 1
}

// positive and negative return the weights of log(p) and of log(1-p) in the loss of a label
// that holds with probability p.
func (j *judged) weights(k int, label int32) (positive, negative float64) {
	if label < 0 {
		return 0, 0
	}
	q := float64(j.smoothing / 2)
	if label == 1 {
		q = 1 - q
	}
	if positive, negative = q, 1-q; j.posWeights != nil {
		positive *= j.posWeights[k]
	}
	return positive, negative
}

// rows returns the inputs of the training function for a loss of single elements, in
// addition to labels [N, K].
func (j *judged) rows(labels tensor.Tensor) map[string]tensor.Tensor {
	k := labels.Shape[1]
	a, b := tensor.New(tensor.F32, labels.Shape...), tensor.New(tensor.F32, labels.Shape...)
	for i, label := range labels.I32() {
		x, y := &a.F32()[i], &b.F32()[i]
		if !j.numbers() {
			positive, negative := j.weights(i%k, label)
			*x, *y = float32(positive), float32(negative)
		} else if v := data.Number(label); v == v {
			*x, *y = v, float32(j.scale(i%k))
		}
	}
	if j.numbers() {
		return map[string]tensor.Tensor{parallel.InputTarget: a, parallel.InputScale: b}
	}
	return map[string]tensor.Tensor{parallel.InputPositive: a, parallel.InputNegative: b}
}

// known counts the elements of labels that count.
func (j *judged) known(labels []int32) float64 {
	n := 0
	for _, label := range labels {
		if v := data.Number(label); j.numbers() && v == v || !j.numbers() && label != -1 {
			n++
		}
	}
	return float64(n)
}
