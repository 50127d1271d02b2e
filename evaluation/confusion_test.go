package evaluation

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// confusionOf returns a matrix with counts.
func confusionOf(dense [][]int) Confusion {
	c := NewConfusion(len(dense))
	for label, row := range dense {
		for class, n := range row {
			if n > 0 {
				c.Add(label, class, n)
			}
		}
	}
	return c
}

// The sparse matrix has the same counts as a dense one.
func TestConfusion(t *testing.T) {
	const classes = 7
	r, c := rand.New(rand.NewPCG(1, 2)), NewConfusion(classes)
	want := c.Dense()
	for range 200 {
		label, predicted, n := r.IntN(classes-1), r.IntN(classes), 1+r.IntN(3)
		c.Add(label, predicted, n)
		want[label][predicted] += n
	}
	if got := c.Dense(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for label := range classes {
		last := -1
		for _, p := range c.Row(label) {
			if p.Class <= last || p.N != want[label][p.Class] || p.N == 0 {
				t.Errorf("row %d: %v, want %v", label, c.Row(label), want[label])
			}
			last = p.Class
		}
		if c.N(label, 3) != want[label][3] {
			t.Errorf("%d, want %d", c.N(label, 3), want[label][3])
		}
	}
}

// An evaluation of 10,000 classes needs memory only for the cells that are not 0. A dense matrix would need
// 800 MB.
func TestEvaluationOfManyClasses(t *testing.T) {
	const classes, n = 10000, 64
	x, labels := tensor.New(tensor.F32, n, classes), make([]int32, n)
	for i := range n {
		labels[i] = int32(i * 150)
		x.F32()[i*classes+(i*150+i%2)%classes] = 9 // for every other row the next class is predicted
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := &Evaluation{}
	if err := e.Add(x, tensor.Of(labels, n), false); err != nil {
		t.Fatal(err)
	}
	f1, recall := e.Macro()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("%d MB were allocated", took>>20)
	}
	// 32 classes are predicted with an F1 of 1. Another 32 are never predicted, and 32 are
	// only predicted wrongly: their F1 is 0.
	if e.Correct != n/2 || len(e.Misclassifications()) != n/2 || recall != 0.5 || f1 != Figure(32.0/96) {
		t.Errorf("%d correct, macro F1 %v, recall %v", e.Correct, f1, recall)
	}
}
