package train

import (
	"maps"
	"math"

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

func (r *Recipe) judged(outputs int) (judged, error) {
	l, err := parseLoss(r.Loss)
	if err != nil {
		return judged{}, err
	}
	l.Std = r.TargetStd
	weights, err := r.posWeights(outputs)
	return judged{l, r.LabelSmoothing, weights}, err
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

// withLoss adds the inputs for the loss of p to rows.
func (p *plan) withLoss(rows map[string]tensor.Tensor) {
	if p.loss.Of == parallel.CrossEntropy {
		return
	}
	labels := rows[parallel.InputLabels]
	if !p.loss.numbers() {
		labels = padded(labels, classesOf(p.template.Graph))
	}
	rows[parallel.InputLabels] = labels
	maps.Copy(rows, p.loss.rows(labels))
}

// accuracy returns the share of labels that were met, or NaN for numbers, which are never
// met.
func (l Loss) accuracy(met, counted float64) Figure {
	if l.numbers() {
		return Figure(math.NaN())
	}
	return Figure(ratio(met, counted))
}
