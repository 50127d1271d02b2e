package train

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/tensor"
)

// goldenSteps is what testdata/resnet20_steps.py printed: see there.
//
//go:embed testdata/resnet20_steps.txt
var goldenSteps string

// The script's sizes and seed. The rows go over replicas of different sizes.
const goldenBatch, goldenSide, goldenSeed, goldenReplicas = 6, 8, 246, 4

// words is the generator of the script: element i of a stream.
func words(stream, i int) uint32 {
	z := (uint64(10000*goldenSeed+stream)<<32 + uint64(i)) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return uint32((z ^ z>>31) >> 32)
}

// goldenModel returns resnet20 with the script's weights.
func goldenModel(t *testing.T) *models.Model {
	m, err := models.Build("resnet20",
		models.Options{Input: models.Size{Height: goldenSide, Width: goldenSide, Channels: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range m.Graph.State {
		centre, spread := 0.0, 0.25 // bias and beta
		switch s.Role {
		case graph.Weight:
			spread = 2 / math.Sqrt(float64(tensor.Count(s.Shape[1:])))
		case graph.Gamma:
			centre = 1
		case graph.Mean:
			spread = 0
		case graph.Variance:
			centre, spread = 1, 0
		}
		v := tensor.New(s.DType, s.Shape...)
		for i := range v.F32() {
			u := float64(words(k+1, i))/(1<<31) - 1
			v.F32()[i] = float32(centre + float64(spread*u))
		}
		m.State[s.Name] = v
	}
	return m
}

// goldenInput returns images and labels of a step.
func goldenInput(step int) parallel.Batch {
	x, y := tensor.New(tensor.U8, goldenBatch, goldenSide, goldenSide, 3), tensor.New(tensor.I32, goldenBatch)
	for i := range x.U8() {
		x.U8()[i] = uint8(words(1000+step, i) >> 24)
	}
	for i := range y.I32() {
		y.I32()[i] = int32(words(2000+step, i) % 10)
	}
	return parallel.Batch{Rows: map[string]tensor.Tensor{"x": x, parallel.InputLabels: y},
		Inverse: 1.0 / goldenBatch, Sizes: parallel.Split(goldenBatch, goldenReplicas)}
}

// goldenRun trains three steps on two devices and returns losses and state.
func goldenRun(t *testing.T, p device.Provider, steps int) ([]float64, map[string]tensor.Tensor) {
	ctx, m := context.Background(), goldenModel(t)
	r := &Recipe{Batch: goldenBatch, Replicas: goldenReplicas, Accumulate: 1, BN: bn.Sync, BNStats: bn.Pooled,
		Optimizer: "sgd", LR: 0.1, Momentum: 0.9, WeightDecay: 1e-4, Schedule: "constant", Steps: steps,
		Data: Data{Samples: goldenBatch}}
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	wrapped, err := parallel.Wrap(m.Graph, parallel.Options{Replicas: goldenReplicas, BN: bn.Sync})
	must(err)
	trained, err := Trained(m.Graph, nil)
	must(err)
	program, err := Program(r, m.Graph, wrapped, trained)
	must(err)
	schedule, err := NewSchedule(r)
	must(err)
	layers, err := bn.Layers(wrapped.Main)
	must(err)
	statistics, err := bn.New(layers, m.State, bn.Sync, bn.Pooled)
	must(err)
	var devices []parallel.Member
	for i := range 2 {
		d, err := p.Open(ctx, device.DefaultID, device.Options{Threads: 1})
		must(err)
		t.Cleanup(func() { d.Close() })
		devices = append(devices, parallel.Member{Name: fmt.Sprint(i), Device: d})
	}
	driver, err := parallel.Open(ctx, program, m.State, devices,
		parallel.Config{Replicas: goldenReplicas, Batch: goldenBatch})
	must(err)
	t.Cleanup(func() { driver.Close() })
	var losses []float64
	for step := range steps {
		result, err := driver.Step(ctx, goldenInput(step))
		must(err)
		must(bn.Check(layers, result.Moments))
		must(driver.Commit(ctx, Hyper(r, schedule, step)))
		statistics, err = statistics.Next(result.Moments)
		must(err)
		losses = append(losses, result.Loss/goldenBatch)
	}
	state, err := driver.State(ctx)
	must(err)
	for name, v := range statistics.Tensors() {
		state[name] = v
	}
	return losses, state
}

// Three steps of resnet20 give what PyTorch has: losses within 1e-5, weights
// and statistics within 1e-4 of their size.
func TestThreeStepsOfResNet20AsInPyTorch(t *testing.T) {
	for name, p := range map[string]device.Provider{"cpu": cpu.Provider{}, "ref": ref.Provider{}} {
		t.Run(name, func(t *testing.T) { compareGolden(t, p) })
	}
}

func compareGolden(t *testing.T, p device.Provider) {
	losses, state := goldenRun(t, p, strings.Count(goldenSteps, "loss "))
	seen := 0
	for line := range strings.Lines(goldenSteps) {
		f := strings.Fields(line)
		var numbers []float64
		for _, s := range f[1:] {
			var v float64
			fmt.Sscan(s, &v)
			numbers = append(numbers, v)
		}
		if f[0] == "loss" {
			if got, want := losses[int(numbers[0])], numbers[1]; math.Abs(got-want) > 1e-5 {
				t.Errorf("step %d: loss %.9g, PyTorch has %.9g", int(numbers[0]), got, want)
			}
			continue
		}
		seen++
		got := state[f[0]].F32()
		for i, want := range numbers[1:] {
			if v := float64(got[i*len(got)/8]); math.Abs(v-want) > 1e-4*numbers[0] {
				t.Errorf("%s: element %d is %.9g, PyTorch has %.9g", f[0], i*len(got)/8, v, want)
			}
		}
	}
	if want := len(goldenModel(t).Graph.State); seen != want {
		t.Errorf("%d tensors in the golden file, want %d", seen, want)
	}
}
