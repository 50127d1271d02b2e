package train

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// These are the outputs of testdata/resnet20_steps.py, unet_steps.py and auxiliary_steps.py: see these
// scripts.
//
//go:embed testdata/resnet20_steps.txt
var resnet20Steps string

//go:embed testdata/unet_steps.txt
var unetSteps string

//go:embed testdata/auxiliary_steps.txt
var auxiliarySteps string

//go:embed testdata/mixed_steps.txt
var mixedSteps string

//go:embed testdata/mixed_classes.txt
var mixedClasses string

// golden is the output of a script: its sizes and seed. The rows are divided among replicas
// of different sizes.
type golden struct {
	model               string
	classes, side, seed int
	lr                  float64
	weights             string // weights of the classes, for networks that give each pixel a class
	steps               string
	graph               string  // graph of a model that is not in the zoo
	aux                 float64 // weight of the auxiliary loss
	recompute           bool
	precision           string
	mode                bn.Mode // bn.Sync if empty
	replicas            int     // goldenReplicas if 0
	mixed               bool    // each row is mixed with the row before, and labels are smoothed
	whole               bool    // labels are per picture, not per pixel
}

var (
	goldenResNet20 = &golden{model: "resnet20", classes: 10, side: 8, seed: 246, lr: 0.1,
		steps: resnet20Steps}
	goldenUNet = &golden{model: "unet-bn", classes: 3, side: 16, seed: 6, lr: 0.02,
		weights: "0.5,1,2", steps: unetSteps}
	goldenAuxiliary = &golden{model: "two heads", classes: 3, side: 8, seed: 5, lr: 0.1, weights: "0.5,1,2",
		steps: auxiliarySteps, graph: twoHeads, aux: 0.4}
	goldenMixed = &golden{model: "two heads, mixed", classes: 3, side: 8, seed: 5, lr: 0.1, weights: "0.5,1,2",
		steps: mixedSteps, graph: twoHeads, aux: 0.4, mixed: true}
	goldenMixedClasses = &golden{model: "dense, mixed", classes: 3, side: 8, seed: 5, lr: 0.1, weights: "0.5,1,2",
		steps: mixedClasses, graph: oneLayer, mixed: true, whole: true}
)

// oneLayer is the network of mixed_classes.py.
const oneLayer = `bnctl graph 1
graph "one layer"

state bn.weight f32[192] gamma ones
state bn.bias f32[192] beta zeros
state bn.running_mean f32[192] mean zeros
state bn.running_var f32[192] variance ones
state head.weight f32[3,192] weight uniform(0.5)
state head.bias f32[3] bias zeros

func main(x rows u8[8,8,3]) {
  image = image(x, mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])
  flat = reshape(image, shape=[192])
  bn = batch_norm(flat, @bn.weight, @bn.bias, @bn.running_mean, @bn.running_var)
  head = dense(bn, @head.weight, @head.bias)
  return logits rows = head
}
`

// twoHeads is the network of auxiliary_steps.py.
const twoHeads = `bnctl graph 1
graph "two heads"

state conv1.weight f32[4,3,3,3] weight he_normal(0)
state bn1.weight f32[4] gamma ones
state bn1.bias f32[4] beta zeros
state bn1.running_mean f32[4] mean zeros
state bn1.running_var f32[4] variance ones
state conv2.weight f32[4,4,3,3] weight he_normal(0)
state bn2.weight f32[4] gamma ones
state bn2.bias f32[4] beta zeros
state bn2.running_mean f32[4] mean zeros
state bn2.running_var f32[4] variance ones
state head.weight f32[3,4,1,1] weight uniform(0.5)
state head.bias f32[3] bias zeros
state aux.weight f32[3,4,1,1] weight uniform(0.5)
state aux.bias f32[3] bias zeros

func main(x rows u8[8,8,3]) {
  image = image(x, mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])
  conv1 = conv(image, @conv1.weight, pad=[1,1,1,1])
  bn1 = batch_norm(conv1, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  relu1 = relu(bn1)
  conv2 = conv(relu1, @conv2.weight, pad=[1,1,1,1])
  bn2 = batch_norm(conv2, @bn2.weight, @bn2.bias, @bn2.running_mean, @bn2.running_var)
  relu2 = relu(bn2)
  head = conv(relu2, @head.weight, @head.bias)
  second = conv(relu1, @aux.weight, @aux.bias)
  return logits rows = head
  return aux rows = second
}
`

const goldenBatch, goldenReplicas = 6, 4

// words is the generator of the scripts: element i of a stream.
func (g *golden) words(stream, i int) uint32 {
	z := (uint64(10000*g.seed+stream)<<32 + uint64(i)) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return uint32((z ^ z>>31) >> 32)
}

// template returns the model without weights.
func (g *golden) template(t *testing.T) *models.Model {
	if g.graph != "" {
		return written(t, g.graph)
	}
	m, err := models.Build(g.model, models.Options{Classes: g.classes,
		Input: models.Size{Height: g.side, Width: g.side, Channels: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// build returns the model with the script's weights.
func (g *golden) build(t *testing.T) *models.Model {
	m := g.template(t)
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
			u := float64(g.words(k+1, i))/(1<<31) - 1
			v.F32()[i] = float32(centre + float64(spread*u))
		}
		m.State[s.Name] = v
	}
	return m
}

// input returns images and labels of a step, in a batch.
func (g *golden) input(step int, p *plan) parallel.Batch {
	x, y := tensor.New(tensor.U8, goldenBatch, g.side, g.side, 3), tensor.New(tensor.I32, goldenBatch)
	pixels := g.weights != "" && !g.whole
	if pixels {
		y = tensor.New(tensor.I32, goldenBatch, g.side, g.side)
	}
	for i := range x.U8() {
		x.U8()[i] = uint8(g.words(1000+step, i) >> 24)
	}
	for i := range y.I32() {
		if word := g.words(2000+step, i); !pixels {
			y.I32()[i] = int32(word % uint32(g.classes))
		} else {
			y.I32()[i] = int32(word%uint32(g.classes+1)) - 1
		}
	}
	rows := map[string]tensor.Tensor{"x": x, losses.InputLabels: y,
		spmd.InputIdent: tensor.New(tensor.I64, goldenBatch, 2)}
	if g.mixed {
		partners := tensor.New(tensor.I32, y.Shape...)
		size := len(y.Bytes) / goldenBatch
		copy(partners.Bytes[copy(partners.Bytes, y.Bytes[len(y.Bytes)-size:]):], y.Bytes)
		b := data.Batch{X: x, Partners: partners}
		b.Fraction = []float32{0.75, 0.625, 0.9375}[step]
		withPartners(rows, &b, 0)
	}
	return parallel.Batch{Rows: rows, Inverse: inverse(p.weighed(rows)),
		Sizes: parallel.Split(goldenBatch, cmp.Or(g.replicas, goldenReplicas))}
}

// run trains three steps on two devices and returns losses and state.
func (g *golden) run(t *testing.T, p device.Provider, steps int) ([]float64, map[string]tensor.Tensor) {
	ctx, m := context.Background(), g.build(t)
	mode, replicas := cmp.Or(g.mode, bn.Sync), cmp.Or(g.replicas, goldenReplicas)
	r := &recipe.Recipe{Batch: goldenBatch, Replicas: replicas, Accumulate: 1, BN: mode, BNStats: bn.Pooled,
		Optimizer: "sgd", LR: g.lr, Momentum: 0.9, WeightDecay: 1e-4, Schedule: "constant", Steps: steps,
		LabelSmoothing: map[bool]float64{true: 0.1}[g.mixed],
		ClassWeights:   g.weights, AuxWeight: g.aux, Data: recipe.Data{Samples: goldenBatch, Classes: g.classes}}
	if g.mixed {
		r.Augment = augmentation.MustParse("mixup")
	}
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: replicas, BN: mode})
	must(err)
	trained, err := Trained(m.Graph, nil)
	must(err)
	program, err := Program(r, m.Graph, wrapped, trained)
	must(err)
	if g.recompute {
		program, err = recomputing(program, g.precision)
		must(err)
	}
	schedule, err := recipe.NewSchedule(r)
	must(err)
	weights, err := r.WeightsOfClasses(g.classes)
	must(err)
	loss := &plan{classWeights: weights}
	layers, err := bn.Layers(wrapped.Main)
	must(err)
	var statistics *bn.Statistics // nil for frozen statistics, which do not change
	if mode != bn.Frozen {
		statistics, err = bn.New(layers, m.State, mode, bn.Pooled)
		must(err)
	}
	var devices []parallel.Member
	for i := range 2 {
		d, err := p.Open(ctx, device.DefaultID, device.Options{Threads: 1, Precision: g.precision})
		must(err)
		t.Cleanup(func() { d.Close() })
		devices = append(devices, parallel.Member{Name: fmt.Sprint(i), Device: d})
	}
	driver, err := parallel.Open(ctx, program, m.State, devices,
		parallel.Config{Replicas: replicas, Batch: goldenBatch})
	must(err)
	t.Cleanup(func() { driver.Close() })
	var losses []float64
	for step := range steps {
		batch := g.input(step, loss)
		result, err := driver.Step(ctx, batch)
		must(err)
		if statistics != nil {
			must(bn.Check(layers, result.Moments))
		}
		must(driver.Commit(ctx, Hyper(r, schedule, step, 0)))
		if statistics != nil {
			statistics, err = statistics.Next(result.Moments)
			must(err)
		}
		losses = append(losses, ratio(loss.perLabel(batch, result).Loss, result.Counted))
	}
	state, err := driver.State(ctx)
	must(err)
	if statistics != nil {
		maps.Copy(state, statistics.Tensors())
	}
	return losses, state
}

// Three steps of a network match PyTorch: losses within 1e-5, weights and statistics within
// 1e-4 of their size.
func TestThreeStepsAsInPyTorch(t *testing.T) {
	for _, g := range []*golden{goldenResNet20, goldenUNet, goldenAuxiliary, goldenMixed, goldenMixedClasses} {
		for name, p := range map[string]device.Provider{"cpu": cpu.Provider{}, "ref": ref.Provider{}} {
			t.Run(g.model+" "+name, func(t *testing.T) { g.compare(t, p) })
		}
	}
}

func (g *golden) compare(t *testing.T, p device.Provider) {
	losses, state := g.run(t, p, strings.Count(g.steps, "loss "))
	seen := 0
	for line := range strings.Lines(g.steps) {
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
	if want := len(g.build(t).Graph.State); seen != want {
		t.Errorf("%d tensors in the golden file, want %d", seen, want)
	}
}
