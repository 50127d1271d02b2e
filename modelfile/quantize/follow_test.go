package quantize

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/qat"
	"github.com/bnctl/bnctl/tensor"
)

// normed returns a model of the zoo with random weights. Its batch norms have other
// statistics and parameters than those of a new model.
func normed(t *testing.T, name string) *models.Model {
	t.Helper()
	m, _ := made(t, name)
	for _, s := range m.Graph.State {
		for i := range m.State[s.Name].F32() {
			switch v := &m.State[s.Name].F32()[i]; s.Role {
			case graph.Gamma:
				*v = 0.5 + 0.1*float32(i%7)
			case graph.Beta, graph.Mean:
				*v = 0.1 * float32(i%5-2)
			case graph.Variance:
				*v = 0.25 + 0.5*float32(i%3)
			}
		}
	}
	return m
}

// glyphs returns samples to measure ranges on.
func glyphs(t *testing.T) Options {
	t.Helper()
	src, err := data.Open(t.Context(), "glyphs:40", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return Options{Data: src, Samples: 10, Method: minMax}
}

// fields returns the data of a model that Rebuild needs.
func fields(t *testing.T, m *models.Model) (f following) {
	t.Helper()
	if err := json.Unmarshal(m.Float, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFollowedHasTheTemplatesLogits: a model in training has the logits of its template to
// the bit, before and after its batch norms are folded. Measuring ranges again does not
// change trained weights.
func TestFollowedHasTheTemplatesLogits(t *testing.T) {
	for _, name := range []string{"lenet-bn", "resnet20"} {
		t.Run(name, func(t *testing.T) {
			o := glyphs(t)
			o.Follow = Follow{Ranges: 3, Fold: 2}
			m, err := Trainable(t.Context(), normed(t, name), o)
			if err != nil {
				t.Fatal(err)
			}
			for epoch := 1; epoch <= 3; epoch++ {
				if !m.TrainsInt8() || m.Normalises() != (epoch <= o.Follow.Fold) {
					t.Errorf("before epoch %d: trains int8: %v, has batch norms: %v", epoch, m.TrainsInt8(), m.Normalises())
				}
				template, err := qat.Template(m)
				if err != nil {
					t.Fatal(err)
				}
				if template.Float != nil {
					t.Error("the template has the float32 model")
				}
				if !bytes.Equal(logits(t, m), logits(t, template)) {
					t.Errorf("before epoch %d: the template has other logits", epoch)
				}
				disturb(m, uint64(epoch))
				next, err := Rebuild(t.Context(), m, epoch, o)
				if err != nil {
					t.Fatal(err)
				}
				if epoch != o.Follow.Fold {
					sameTrained(t, m, next)
				}
				m = next
			}
		})
	}
}

// sameTrained compares the trained tensors of two models.
func sameTrained(t *testing.T, a, b *models.Model) {
	t.Helper()
	for _, s := range a.Graph.State {
		if s.Role.Trained() && !bytes.Equal(a.State[s.Name].Bytes, b.State[s.Name].Bytes) {
			t.Errorf("%s has changed", s.Name)
		}
	}
}

// TestRangesMoveHalfway doubles the weights and the bias of a convolution, and so the values of its output.
// In each of two epochs the range of the output moves halfway from its present value to the doubled one.
// After that it does not change.
func TestRangesMoveHalfway(t *testing.T) {
	o := glyphs(t)
	o.Follow = Follow{Ranges: 2}
	m, err := Trainable(t.Context(), normed(t, "lenet-bn"), o)
	if err != nil {
		t.Fatal(err)
	}
	const of = "conv1" // a convolution with a folded batch norm
	was := fields(t, m).Ranges
	name := of
	for candidate := range was {
		if strings.HasPrefix(candidate, of) {
			name = candidate
		}
	}
	for _, s := range []string{"conv1.weight", "conv1.bias"} {
		for i := range m.State[s].F32() {
			m.State[s].F32()[i] *= 2
		}
	}
	for epoch, want := range []float64{1.5, 1.75, 1.75} {
		if m, err = Rebuild(t.Context(), m, epoch+1, o); err != nil {
			t.Fatal(err)
		}
		got := fields(t, m).Ranges[name]
		if math.Abs(got.High-want*was[name].High) > 1e-5*got.High {
			t.Errorf("after epoch %d the range of %s is %v, began as %v: want %g times", epoch+1, name, got, was[name], want)
		}
	}
}

// TestFoldingKeepsTheFunction: the model computes the same before and after folding, except
// that other feature maps are rounded to bytes.
func TestFoldingKeepsTheFunction(t *testing.T) {
	o := glyphs(t)
	o.Follow = Follow{Fold: 1}
	before, err := Trainable(t.Context(), normed(t, "lenet-bn"), o)
	if err != nil {
		t.Fatal(err)
	}
	disturb(before, 3)
	after, err := Rebuild(t.Context(), before, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	if after.Normalises() || !before.Normalises() {
		t.Fatal("batch norms were not folded by Rebuild alone")
	}
	a, b := tensor.Tensor{DType: tensor.F32, Shape: []int{80}, Bytes: logits(t, before)}.F32(),
		tensor.Tensor{DType: tensor.F32, Shape: []int{80}, Bytes: logits(t, after)}.F32()
	largest, off := float32(0), float32(0)
	for i := range a {
		largest, off = max(largest, abs(a[i])), max(off, abs(a[i]-b[i]))
	}
	if largest == 0 || off > 0.1*largest {
		t.Errorf("logits of up to %g differ by up to %g", largest, off)
	}
}

func abs(x float32) float32 { return max(x, -x) }

// TestWhatDoesNotFollow: models that cannot follow a training are refused with the reason.
func TestWhatDoesNotFollow(t *testing.T) {
	o := glyphs(t)
	o.Follow = Follow{Fold: 1}
	plain, _ := made(t, "lenet-bn")
	folded, err := prepare(plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Trainable(t.Context(), folded.Model, o); err == nil ||
		!strings.Contains(err.Error(), "no batch norms to fold") {
		t.Errorf("a model without batch norms: %v", err)
	}
	m, err := Trainable(t.Context(), plain, o)
	if err != nil {
		t.Fatal(err)
	}
	weights := m.State["conv1.weight"].F32()
	weights[0] /= weights[0] - weights[0]
	if _, err := Rebuild(t.Context(), m, 1, o); err == nil || !strings.Contains(err.Error(), "after epoch 1") {
		t.Errorf("weights that are not finite: %v", err)
	}
	m.Float = slices.Concat(m.Float, []byte("}"))
	if _, err := Rebuild(t.Context(), m, 1, o); err == nil || !strings.Contains(err.Error(), "float32 model") {
		t.Errorf("a broken description: %v", err)
	}
}
