package predict

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// pairArea returns the area under the curve by its definition: of all pairs of a positive
// and a negative, the share in order, plus half the share of ties.
func pairArea(scores []float64, labels []int32) float64 {
	halves, pairs := 0, 0
	for i, a := range scores {
		for j, b := range scores {
			if labels[i] != 1 || labels[j] != 0 {
				continue
			}
			pairs++
			switch {
			case a > b:
				halves += 2
			case a == b:
				halves++
			}
		}
	}
	return float64(halves) / float64(2*pairs)
}

// Logits of two classes with exactly equal differences are tied, whatever their sums are.
func TestAUROCOfTies(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 12))
	for range 200 {
		n := 2 + r.IntN(40)
		logits, labels, margins := make([]float32, 2*n), make([]int32, n), make([]float64, n)
		for i := range n {
			logits[2*i] = float32(r.IntN(4000)-2000) / 64
			logits[2*i+1] = logits[2*i] + float32(r.IntN(9)-4)/4 // these differences are exact
			margins[i] = float64(logits[2*i+1]) - float64(logits[2*i])
			labels[i] = int32(r.IntN(2))
		}
		labels[0], labels[1] = 0, 1
		d := &Details{}
		src := arrays(t, tensor.New(tensor.F32, n, 1), tensor.Of(labels, n))
		if _, err := evaluation.Run(t.Context(), constant{tensor.Of(logits, n, 2)}, src,
			evaluation.Options{Batch: n, Observers: d.Observers()}); err != nil {
			t.Fatal(err)
		}
		if got, want := d.auroc(), pairArea(margins, labels); math.Abs(got-want) > 1e-12 {
			t.Fatalf("AUROC %v, want %v, of logits %v with labels %v", got, want, logits, labels)
		}
	}
}

// arrays opens samples and labels as npy: data.
func arrays(t *testing.T, x, y tensor.Tensor) data.Source {
	t.Helper()
	dir, spec := t.TempDir(), "npy:"
	for name, a := range map[string]tensor.Tensor{"x": x, "y": y} {
		var b bytes.Buffer
		if err := data.WriteNPY(&b, a); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec += filepath.Join(dir, "x") + "," + filepath.Join(dir, "y")
	src, err := data.Open(t.Context(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// constant predicts the same scores for each batch.
type constant struct{ scores tensor.Tensor }

func (c constant) Predict(_ context.Context, _ tensor.Tensor) ([]tensor.Tensor, error) {
	return []tensor.Tensor{c.scores}, nil
}

// Arrays with a label for each pixel have overlaps. For class 0, the intersection has 2 pixels and
// the union 4; for class 1 the intersection has 3 and the union 5. One pixel is ignored.
func TestOverlapsOfArrays(t *testing.T) {
	src := arrays(t, tensor.New(tensor.F32, 2, 1, 2, 2), tensor.Of([]int32{0, 0, 1, 1, 0, 1, 1, -1}, 2, 2, 2))
	of0 := []float32{1, 0, 0, 0, 1, 0, 1, 1} // 1 if class 0 is predicted
	scores := tensor.New(tensor.F32, 2, 2, 2, 2)
	for i := range 2 {
		copy(scores.F32()[8*i:], of0[4*i:4*i+4])
	}
	for i, v := range of0 {
		scores.F32()[8*(i/4)+4+i%4] = 1 - v
	}
	e, err := evaluation.Run(t.Context(), constant{scores}, src, evaluation.Options{Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := NewReport(&models.Model{}, e, nil, time.Second)
	if r.MIoU == nil || math.Abs(float64(*r.MIoU)-(2.0/4+3.0/5)/2) > 1e-12 {
		t.Errorf("mIoU %v, want 0.55; report %+v", r.MIoU, *r)
	}
}
