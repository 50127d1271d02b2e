package models_test

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// torchLogits is the output of testdata/torch_logits.py: see there.
//
//go:embed testdata/torch_logits.txt
var torchLogits string

// words is the random generator of testdata/torch_logits.py. It returns element i of a
// stream.
func words(stream, i int) uint32 {
	z := (uint64(stream)<<32 + uint64(i)) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return uint32((z ^ z>>31) >> 32)
}

// fill gives tensor k of the state the script's numbers, f64.
func fill(k int, s graph.State) tensor.Tensor {
	centre, spread := 0.0, 0.25
	switch s.Role {
	case graph.Weight:
		spread = 2 / math.Sqrt(float64(tensor.Count(s.Shape[1:])))
	case graph.Gamma, graph.Variance:
		centre = 1
	}
	t := tensor.New(tensor.F64, s.Shape...)
	for i := range t.F64() {
		u := float64(words(k+1, i))/(1<<31) - 1
		t.F64()[i] = float64(float32(centre + float64(spread*u)))
	}
	return t
}

// Architectures compute what PyTorch's do, exactly except for rounding in float64.
func TestLogitsAsInPyTorch(t *testing.T) {
	for line := range strings.Lines(torchLogits) {
		f := strings.Fields(line)
		var size models.Size
		fmt.Sscan(strings.Join(f[1:4], " "), &size.Height, &size.Width, &size.Channels)
		m, err := models.Build(f[0], models.Options{Input: size, Classes: 10})
		if err != nil {
			t.Fatal(err)
		}
		state := map[string]tensor.Tensor{}
		for k, s := range m.Graph.State {
			state[s.Name] = fill(k, s)
		}
		x := tensor.New(tensor.U8, 2, size.Height, size.Width, size.Channels)
		for i := range x.U8() {
			x.U8()[i] = uint8(words(1000, i) >> 24)
		}
		eval, err := graph.Eval(m.Graph.Main, m.Graph.State)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ref.Eval64(eval, state, []tensor.Tensor{x}, []int{2})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, f[0], out[0].F64(), f[4:])
	}
}

func compare(t *testing.T, name string, got []float64, numbers []string) {
	if len(got) != len(numbers) {
		t.Fatalf("%s: %d logits, PyTorch has %d", name, len(got), len(numbers))
	}
	scale := 0.0
	want := make([]float64, len(got))
	for i, s := range numbers {
		fmt.Sscan(s, &want[i])
		scale = max(scale, math.Abs(want[i]))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-6*scale {
			t.Errorf("%s: logit %d is %.9g, PyTorch has %.9g", name, i, got[i], want[i])
		}
	}
}
