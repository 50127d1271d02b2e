package quantize

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/qat"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// logits returns the logits of random pictures.
func logits(t *testing.T, m *models.Model) []byte {
	t.Helper()
	p, err := predict.Open(context.Background(), m, predict.Options{Batch: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := tensor.New(tensor.U8, append([]int{8}, m.Input().Shape...)...)
	r := rand.New(rand.NewPCG(5, 8))
	for i := range x.Bytes {
		x.Bytes[i] = byte(r.Uint32())
	}
	out, err := p.Predict(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return out[0].Bytes
}

// TestTrainableHasTheTemplatesLogits: a model for training has the logits of its int8 template to the
// bit, before the first step and with any other weights.
func TestTrainableHasTheTemplatesLogits(t *testing.T) {
	for _, name := range []string{"lenet-bn", "resnet20"} {
		t.Run(name, func(t *testing.T) {
			m, _ := made(t, name)
			src, err := data.Open(t.Context(), "glyphs:40", data.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			trained, err := Trainable(t.Context(), m, Options{Data: src, Samples: 40})
			if err != nil {
				t.Fatal(err)
			}
			if !trained.TrainsInt8() || trained.Trainable("model", name) != nil {
				t.Fatalf("%s does not train for int8", trained.Architecture)
			}
			for round := range 3 {
				template, err := qat.Template(trained)
				if err != nil {
					t.Fatal(err)
				}
				if template.TrainsInt8() || !template.Int8() || template.Trainable("model", name) == nil {
					t.Errorf("round %d: the template can be trained", round)
				}
				if !bytes.Equal(logits(t, trained), logits(t, template)) {
					t.Errorf("round %d: the template has other logits", round)
				}
				disturb(trained, uint64(round))
			}
		})
	}
}

// disturb changes every weight and bias that is trained by up to a tenth.
func disturb(m *models.Model, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for _, s := range m.Graph.State {
		if s.Role == graph.Weight || s.Role == graph.Bias {
			for i, v := range m.State[s.Name].F32() {
				m.State[s.Name].F32()[i] = v * (1 + 0.1*(2*r.Float32()-1))
			}
		}
	}
}

// TestTrainableBeginsAsTheTemplate: before the first step the weights are those of quantize with the
// same samples. Their second rounding, to float32, may move a weight that is between two steps.
func TestTrainableBeginsAsTheTemplate(t *testing.T) {
	m, _ := made(t, "lenet-bn")
	src, err := data.Open(t.Context(), "glyphs:40", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	o := Options{Data: src, Samples: 40}
	trained, err := Trainable(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := qat.Template(trained)
	if err != nil {
		t.Fatal(err)
	}
	want, err := new(Report).quantize(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	differ, all := 0, 0
	for name, w := range want.State {
		if w.DType != tensor.I8 {
			continue
		}
		for i, b := range w.Bytes {
			if all++; got.State[name].Bytes[i] != b {
				differ++
			}
		}
	}
	if all == 0 || differ*10000 > all {
		t.Errorf("%d of %d weights differ", differ, all)
	}
}

// TestTemplateRefusesWeights: the error for weights that are not finite names the layer and the channel.
func TestTemplateRefusesWeights(t *testing.T) {
	m, _ := made(t, "mlp-bn")
	src, err := data.Open(t.Context(), "glyphs:20", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	trained, err := Trainable(t.Context(), m, Options{Data: src})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range trained.Graph.State {
		if s.Role == graph.Weight {
			w := trained.State[s.Name].F32()
			w[len(w)-1] /= (w[0] - w[0])
			break
		}
	}
	if _, err = qat.Template(trained); err == nil {
		t.Fatal("a weight that is not finite became bytes")
	}
	for _, part := range []string{"int8 template of mlp-bn: fc1", ": channel ", " steps of its result"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: want %q", err, part)
		}
	}
}
