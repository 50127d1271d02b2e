package evaluation

import (
	"math"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// TargetError has the errors of one target, as sums over the samples where its number is known.
type TargetError struct {
	N                 int
	absolute, squares float64 // sums of |y - t| and of its square
	mean, deviations  float64 // mean of the numbers; sum of squared deviations from it
}

// MAE returns the mean absolute error in the units of the data, and RMSE the root of the mean squared error.
// R2 is 1 - (sum of squared errors) / (sum of squared deviations of the numbers from their mean), or NaN if
// the numbers are all equal. If no number is known, all three are NaN.
func (t *TargetError) MAE() Figure { return fraction(t.absolute, float64(t.N)) }

// RMSE is described at MAE.
func (t *TargetError) RMSE() Figure {
	return Figure(math.Sqrt(float64(fraction(t.squares, float64(t.N)))))
}

// R2 is described at MAE.
func (t *TargetError) R2() Figure { return 1 - fraction(t.squares, t.deviations) }

// add adds a number of the data, and the prediction for it, to the sums.
func (t *TargetError) add(predicted, number float64) {
	t.N++
	apart := predicted - number
	t.absolute += math.Abs(apart)
	t.squares += float64(apart * apart)
	d := number - t.mean // Welford 1962
	t.mean += d / float64(t.N)
	t.deviations += float64(d * (number - t.mean))
}

// numbersOf adds the predicted numbers y of a sample, and its true numbers, to the errors of the targets.
func (e *Evaluation) numbersOf(y []float64, label []int32) {
	for k, bits := range label {
		number := float64(data.Number(bits))
		if number != number {
			continue
		}
		e.LossSum += e.loss.error((y[k] - number) * e.loss.scale(k))
		e.WeightSum++
		e.Counted++
		if !tensor.IsFinite(y[k]) {
			e.NotFinite++
		}
		e.Targets[k].add(y[k], number)
	}
}

// MeanR2 returns the mean of R2 over the targets where it is defined, or NaN without any.
func (e *Evaluation) MeanR2() Figure {
	sum, n := 0.0, 0.0
	for k := range e.Targets {
		if r2 := float64(e.Targets[k].R2()); r2 == r2 {
			sum, n = sum+r2, n+1
		}
	}
	return fraction(sum, n)
}
