package train

import (
	"math"
	"reflect"
	"testing"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/parallel"
)

// Four replicas of two images train like one replica of eight images: the losses of 20 steps are within
// 1e-5. A deep network like unet-bn multiplies differences in the last bits from step to step, whatever
// their origin: see docs/results/training.md.
func TestSyncIsTheWholeBatch(t *testing.T) {
	whole, shared := maskLosses(t, 1), maskLosses(t, 4)
	for i, want := range whole {
		if math.Abs(shared[i]-want) > 1e-5 {
			t.Errorf("step %d: loss %.9g over 4 replicas, %.9g over one", i+1, shared[i], want)
		}
	}
	if len(whole) != 20 || whole[19] > whole[0] {
		t.Errorf("losses %v: want 20 that fall", whole)
	}
}

// maskLosses trains the network "masks" for 20 steps of 8 images.
func maskLosses(t *testing.T, replicas int) (losses []float64) {
	b := maskBench(t, 40)
	b.recipe.Batch, b.recipe.Replicas, b.recipe.Epochs, b.recipe.Steps = 8, replicas, 0, 20
	c := b.config(1)
	c.Validation, c.LogEvery = nil, 1
	c.Events = func(e Event) {
		if e, ok := e.(Stepped); ok {
			losses = append(losses, e.Loss)
		}
	}
	b.template(New(t.Context(), &b.recipe, b.model(), c))
	return losses
}

// Figures of an evaluation of masks depend on neither batch, devices, replicas nor ranks:
// counts, mIoU and the sum of losses bit for bit.
func TestEvaluationOfMasks(t *testing.T) {
	b := maskBench(t, 7)
	b.recipe.Batch, b.recipe.Replicas, b.recipe.Tail = 2, 1, parallel.Keep
	m := b.model()
	evaluate := func(replicas, batch, devices int) *evaluation.Evaluation {
		b.recipe.Batch, b.recipe.Replicas = batch, replicas
		s, err := New(t.Context(), &b.recipe, m.Clone(), b.config(devices))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, err := s.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	want := evaluate(1, 1, 1)
	if want.Counted != 7*16*16 || want.LossSum <= 0 || want.MeanOverlap() <= 0 {
		t.Fatalf("%+v", want)
	}
	for _, c := range [][3]int{{1, 7, 1}, {2, 3, 2}, {4, 5, 3}, {4, 100, 4}} {
		if got := evaluate(c[0], c[1], c[2]); !reflect.DeepEqual(got, want) {
			t.Errorf("%d replicas, batch %d, %d devices: %+v, want %+v", c[0], c[1], c[2], got, want)
		}
	}
}
