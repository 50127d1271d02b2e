package evaluation

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
	"math"
	"testing"
)

// TestFiguresOfCriteria compares every figure that may select the best epoch with its definition, computed by
// hand for small sets.
func TestFiguresOfCriteria(t *testing.T) {
	f32 := func(shape []int, v ...float32) tensor.Tensor {
		x := tensor.New(tensor.F32, shape...)
		copy(x.F32(), v)
		return x
	}
	i32 := func(shape []int, v ...int32) tensor.Tensor {
		x := tensor.New(tensor.I32, shape...)
		copy(x.I32(), v)
		return x
	}
	of := func(info data.Info, scores, labels tensor.Tensor) *Evaluation {
		e := newEvaluation(info, Loss{})
		e.areas = new(areas)
		e.observers = e.areas.observers(Observers{})
		if err := e.Add(scores, labels, false); err != nil {
			t.Fatal(err)
		}
		return e
	}
	// The labels are 0 0 0 0 1 1, and the predictions are 0 0 0 1 1 0. The recalls of the classes are 3/4 and
	// 1/2, and F1 is 3/4 and 1/2. Of the 8 pairs of a positive and a negative, 6 are in the right order, and one
	// is a tie.
	two := of(data.Info{Classes: []string{"a", "b"}}, f32([]int{6, 2}, 0, -3, 0, -2, 0, -1, 0, 1, 0, 2, 0, -1),
		i32([]int{6}, 0, 0, 0, 0, 1, 1))
	// Label 0 is predicted correctly in 2 of 3 samples. So is label 1, which has no positives. One sample is
	// exact: both of its labels are predicted correctly.
	several := of(data.Info{Classes: []string{"a", "b"}, MultiLabel: true}, f32([]int{3, 2}, 1, -1, 1, -1, -1, 1),
		i32([]int{3, 2}, 1, 0, 0, 0, 0, 0))
	// The errors of x are 1 and -2, the errors of y 0 and 4.
	numbers := of(data.Info{Targets: []string{"x", "y"}}, f32([]int{2, 2}, 2, 5, 1, 9),
		i32([]int{2, 2}, int32(math.Float32bits(1)), int32(math.Float32bits(5)), int32(math.Float32bits(3)),
			int32(math.Float32bits(5))))
	for _, c := range []struct {
		e      *Evaluation
		figure Criterion
		want   float64
	}{
		{two, "accuracy", 4.0 / 6}, {two, "balanced-accuracy", 0.625}, {two, "f1", 0.625}, {two, "auroc", 6.5 / 8},
		{several, "accuracy", 4.0 / 6}, {several, "f1", (2.0/3 + 0) / 2}, {several, "auroc", 0.75},
		{several, "exact", 1.0 / 3},
		{numbers, "mae", (1.5 + 2) / 2}, {numbers, "rmse", (math.Sqrt(2.5) + math.Sqrt(8)) / 2},
		{numbers, "r2", 1 - 5.0/2},
	} {
		if got := c.figure.FigureOf(c.e); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", c.figure, got, c.want)
		}
	}
}

// TestWorseFiguresAreWorse: a smaller error is better, and so is a larger share. NaN is the
// worst figure.
func TestWorseFiguresAreWorse(t *testing.T) {
	for _, figure := range models.Figures() {
		c := Criterion(figure)
		empty := newEvaluation(data.Info{}, Loss{})
		empty.LossSum, empty.WeightSum = math.NaN(), 1
		worst := c.FigureOf(empty)
		if !tensor.IsFinite(worst) || c.IsBetter(worst, 0.5) {
			t.Errorf("%s of nothing is %v, better than 0.5", figure, worst)
		}
		if c.IsBetter(0.25, 0.5) != models.IsError(figure) || c.IsBetter(0.5, 0.5) {
			t.Errorf("%s: 0.25 and 0.5 are in the wrong order", figure)
		}
	}
}
