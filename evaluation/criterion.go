package evaluation

import (
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
	"math"
)

// Criterion is the name of the figure that selects the best weights of a run, and ends the run when it stops
// improving. It is one of models.Figures.
type Criterion string

// FigureOf returns the figure of e that c names. NaN becomes the worst possible value of the figure.
func (c Criterion) FigureOf(e *Evaluation) float64 {
	v := c.value(e)
	switch {
	case tensor.IsFinite(v):
		return v
	case c.isError():
		return math.MaxFloat64
	case c == "r2":
		return -math.MaxFloat64
	}
	return 0
}

func (c Criterion) value(e *Evaluation) float64 {
	switch c {
	case "loss":
		return e.Loss()
	case "ap50":
		return e.ap50()
	case "miou":
		return float64(e.MeanOverlap())
	case "balanced-accuracy":
		_, recall := e.Macro()
		return float64(recall)
	case "f1":
		return float64(e.meanF1())
	case "auroc":
		return e.areas.mean()
	case "exact":
		return quotient(float64(e.Exact), float64(e.Judged))
	case "r2":
		return float64(e.MeanR2())
	case "mae":
		return e.meanError((*TargetError).MAE)
	case "rmse":
		return e.meanError((*TargetError).RMSE)
	}
	return e.Accuracy()
}

// meanF1 returns the mean of F1 over the classes, or over the labels that do not exclude each other, as far
// as F1 is defined for them.
func (e *Evaluation) meanF1() Figure {
	if !e.MultiLabel {
		f1, _ := e.Macro()
		return f1
	}
	sum, n := 0.0, 0.0
	for _, c := range e.Labels {
		if _, _, f1 := c.Figures(); f1 == f1 {
			sum, n = sum+float64(f1), n+1
		}
	}
	return fraction(sum, n)
}

// meanError returns the mean of an error over the targets where it is defined, in units of the data.
func (e *Evaluation) meanError(value func(*TargetError) Figure) float64 {
	sum, n := 0.0, 0.0
	for k := range e.Targets {
		if v := float64(value(&e.Targets[k])); v == v {
			sum, n = sum+v, n+1
		}
	}
	return float64(fraction(sum, n))
}

// isError reports whether a smaller figure is better.
func (c Criterion) isError() bool { return models.IsError(string(c)) }

// IsBetter reports whether a figure beats the best so far.
func (c Criterion) IsBetter(v, best float64) bool {
	if c.isError() {
		return v < best
	}
	return v > best
}
