package evaluation

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// evaluated returns the evaluation of a row of pixels. The scores give each pixel its class in predicted.
func evaluated(t *testing.T, classes int, labels, predicted []int32) *Evaluation {
	t.Helper()
	n := len(labels)
	scores := tensor.New(tensor.F32, 1, classes, n)
	for at, class := range predicted {
		scores.F32()[int(class)*n+at] = 1
	}
	e := &Evaluation{}
	if err := e.Add(scores, tensor.Of(labels, 1, n), false); err != nil {
		t.Fatal(err)
	}
	return e
}

// Counted by hand: the overlap is 2 of 4 pixels for class 0 and 1 of 3 for class 1. Class 2
// is neither a label nor predicted. Ignored pixels do not count.
func TestOverlap(t *testing.T) {
	e := evaluated(t, 3, []int32{0, 0, 0, 1, 1, -1, -1}, []int32{0, 0, 1, 1, 0, 2, 2})
	if v := e.Overlap(0); v != 0.5 {
		t.Errorf("class 0: %v, want 2/4", v)
	}
	if v := e.Overlap(1); v != Figure(1.0/3) {
		t.Errorf("class 1: %v, want 1/3", v)
	}
	if v := float64(e.Overlap(2)); v == v {
		t.Errorf("class 2: %v, want none", v)
	}
	if v, want := e.MeanOverlap(), e.Overlap(0)/2+e.Overlap(1)/2; !(math.Abs(float64(v-want)) <= 1e-15) {
		t.Errorf("mean %v, want %v", v, want)
	}
	b, err := json.Marshal(e.Overlap(2))
	if err != nil || string(b) != "null" {
		t.Errorf("JSON %s %v, want null", b, err)
	}
}

// A class that is predicted but is never a label has an overlap of 0, which is not NaN.
func TestOverlapOfAFalseClass(t *testing.T) {
	e := evaluated(t, 2, []int32{0, 0}, []int32{0, 1})
	if v := e.Overlap(1); v != 0 {
		t.Errorf("class 1: %v, want 0", v)
	}
}

func TestOverlapOfNothing(t *testing.T) {
	e := evaluated(t, 2, []int32{-1}, []int32{1})
	if v := float64(e.MeanOverlap()); !math.IsNaN(v) {
		t.Errorf("mean of nothing: %v", v)
	}
	if v := Criterion("miou").FigureOf(e); v != 0 {
		t.Errorf("criterion of nothing: %v, want 0", v)
	}
}
