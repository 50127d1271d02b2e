package quantize

import (
	"context"
	"math"
	"testing"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// uneven returns a MobileNetV2 with ranges of channels that differ by a factor of 64, as
// in a trained one.
func uneven(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("mobilenetv2", models.Options{Input: models.Size{Height: 32, Width: 32, Channels: 3}})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Graph.State {
		for c, v := range m.State[s.Name].F32() {
			switch s.Role {
			case graph.Gamma:
				m.State[s.Name].F32()[c] = v * float32(math.Ldexp(1, c%7-5))
			case graph.Beta:
				m.State[s.Name].F32()[c] = float32(math.Ldexp(0.5, c%7-5))
			}
		}
	}
	return m
}

// noiseOf returns the ratio of noise to signal of b's outputs compared with m's, for random
// pictures.
func noiseOf(t *testing.T, m *models.Model, b *built) float64 {
	t.Helper()
	x, err := models.RandomInput(m, 4)
	if err != nil {
		t.Fatal(err)
	}
	var outs [2][]tensor.Tensor
	for i, of := range []*models.Model{m, b.Model} {
		if outs[i], err = predict.Runner(context.Background(), fleet.Options{Devices: "cpu"})(of, x); err != nil {
			t.Fatal(err)
		}
	}
	signal, noise := signalAndNoise(outs[0][0], outs[1][0], nil)
	return noise / signal
}

// Equalisation more than halves the noise of a model with unequal ranges of channels.
func TestEqualised(t *testing.T) {
	m := uneven(t)
	p, err := prepare(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal, err := p.byNorms()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := build(p.Model, p.knownByNorms(), p.stays)
	if err != nil {
		t.Fatal(err)
	}
	with, without := noiseOf(t, m, equal), noiseOf(t, m, plain)
	t.Logf("noise of %g with, %g without", with, without)
	if !(with < without/2) {
		t.Errorf("equalised the noise is %g, otherwise %g: want less than half", with, without)
	}
}

// Equalisation computed by hand: the steps of the first channel of a feature map become a
// quarter as large. In these steps its sums are four times as large, and the weights that
// read it become a quarter as large.
func TestEqualisedByHand(t *testing.T) {
	w := tensor.New(tensor.F32, 2, 1)
	copy(w.F32(), []float32{1.27, 1.27})
	x := layerInput{scale: scale{factor: 0.5}}
	q, err := quantizeWeights(w, nil, 1, x, byteMap{scale: scale{factor: 0.1}, divisors: []float64{0.25, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if by := q.factor.F32(); by[0] != 4*by[1] {
		t.Errorf("a step of the sums is %v steps of the result, want 4 to 1", by)
	}
	w = tensor.New(tensor.F32, 1, 2)
	copy(w.F32(), []float32{1.27, 1.27})
	x.divisors = []float64{0.25, 1}
	if q, err = quantizeWeights(w, nil, 1, x, byteMap{scale: scale{factor: 1}}); err != nil {
		t.Fatal(err)
	}
	if got := tensor.View[int8](q.weight); got[0] != 32 || got[1] != 127 { // 31.75
		t.Errorf("weights %v, want 32 and 127", got)
	}
}
