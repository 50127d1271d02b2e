package evaluation

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// byHand evaluates rows by the definitions of the figures: it sorts all scores of a row, and equal scores by
// class.
func byHand(scores [][]float64, labels []int32, weights []float64) *Evaluation {
	classes := len(scores[0])
	e := &Evaluation{Samples: len(labels), PerClass: make([]ClassCount, classes),
		Confusion: NewConfusion(classes)}
	for i, row := range scores {
		label := int(labels[i])
		if label < 0 {
			continue
		}
		order := make([]int, classes)
		for c := range order {
			order[c] = c
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
		e.Counted++
		e.PerClass[label].N++
		e.Confusion.Add(label, order[0], 1)
		e.PerClass[order[0]].Predicted++
		if order[0] == label {
			e.Correct++
			e.PerClass[label].Correct++
		}
		if slices.Contains(order[:min(5, classes)], label) {
			e.Top5++
		}
		w := 1.0
		if weights != nil {
			w = weights[label]
		}
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(v)
		}
		e.WeightSum += w
		e.LossSum += float64(w * (math.Log(sum) - row[label]))
	}
	return e
}

// The scores have few different values, so that many are equal. Some labels are ignored.
func TestEvaluationByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, classes := range []int{1, 3, 5, 6, 9} {
		for _, weighted := range []bool{false, true} {
			const n = 80
			scores, labels, x := make([][]float64, n), make([]int32, n), tensor.New(tensor.F32, n, classes)
			for i := range x.F32() {
				x.F32()[i] = float32(r.IntN(4))
				scores[i/classes] = append(scores[i/classes], float64(x.F32()[i]))
			}
			for i := range labels {
				labels[i] = int32(r.IntN(classes+1)) - 1
			}
			got, weights := &Evaluation{}, []float64(nil)
			for i := range classes {
				if weighted {
					weights = append(weights, float64(i)+0.5)
				}
			}
			got.classWeights = weights
			if err := got.Add(x, tensor.Of(labels, n), false); err != nil {
				t.Fatal(err)
			}
			want := byHand(scores, labels, weights)
			if math.Abs(got.Loss()-want.Loss()) > 1e-9 {
				t.Errorf("%d classes: loss %g, want %g", classes, got.Loss(), want.Loss())
			}
			want.LossSum, want.WeightSum, want.classWeights = got.LossSum, got.WeightSum, got.classWeights
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d classes: %+v, want %+v", classes, got, want)
			}
		}
	}
	for _, label := range []int32{-2, 3, 4} {
		labels := tensor.Of([]int32{label}, 1)
		if err := (&Evaluation{}).Add(tensor.New(tensor.F32, 1, 3), labels, false); err == nil {
			t.Errorf("label %d of 3 classes was counted", label)
		}
	}
	if err := (&Evaluation{}).Add(tensor.New(tensor.F32, 2, 3), tensor.Of([]int32{1}, 1), false); err == nil {
		t.Error("one label for two rows")
	}
	if err := (&Evaluation{}).Add(tensor.New(tensor.F32, 2), tensor.Of([]int32{1, 1}, 2), false); err == nil {
		t.Error("scores without classes")
	}
}

// Misclassifications returns the cells of the confusion matrix that are not on its diagonal.
func TestMisclassifications(t *testing.T) {
	e := &Evaluation{Confusion: confusionOf([][]int{{9, 1, 2}, {0, 8, 0}, {2, 3, 7}})}
	want := []Misclassification{{2, 1, 3}, {0, 2, 2}, {2, 0, 2}, {0, 1, 1}}
	if got := e.Misclassifications(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A figure that is not finite is null in JSON. As a criterion, a figure that is NaN counts as the worst
// possible one.
func TestFigures(t *testing.T) {
	for v, want := range map[Figure]string{0.5: "0.5", 0: "0", Figure(math.Inf(1)): "null"} {
		if b, err := json.Marshal(v); err != nil || string(b) != want {
			t.Errorf("%v is %s, %v", v, b, err)
		}
	}
	for loss, want := range map[float64]float64{0.5: 0.5, math.Inf(1): math.MaxFloat64} {
		e := &Evaluation{LossSum: loss, WeightSum: 1, Correct: 3, Counted: 4}
		if got := Criterion("loss").FigureOf(e); got != want {
			t.Errorf("the loss %g counts as %g", loss, got)
		}
		if got := Criterion("accuracy").FigureOf(e); got != 0.75 {
			t.Errorf("accuracy %g", got)
		}
	}
}

// Rows that another rank predicts are not read.
func TestWantedRows(t *testing.T) {
	if (&Options{}).wanted() != nil {
		t.Error("there are no other ranks, and not all rows are wanted")
	}
	o := Options{OwnRows: func(rows int) (int, int) { return 2, rows - 1 }}
	is := o.wanted()(data.Position{}, 6)
	for row, want := range []bool{false, false, true, true, true, false} {
		if is(row) != want {
			t.Errorf("row %d is wanted: %v", row, is(row))
		}
	}
}

// If the scores of a sample contain NaN, or have an infinite maximum, the prediction is always wrong. Counted
// by hand: of four labels, the first and the last are correct, because -Inf is a probability of 0.
func TestNotFiniteIsWrong(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	scores := tensor.Of([]float32{2, 1, nan, nan, inf, 0, 5, -inf}, 4, 2)
	var e Evaluation
	if err := e.Add(scores, tensor.Of([]int32{0, 0, 0, 0}, 4), false); err != nil {
		t.Fatal(err)
	}
	if e.Counted != 4 || e.Correct != 2 || e.Top5 != 2 || e.NotFinite != 2 || e.Confusion.N(0, 0) != 2 ||
		e.Overlap(0) != 0.5 || !math.IsNaN(e.Loss()) {
		t.Errorf("%+v, overlap %v", e, e.Overlap(0))
	}
}
