package cpu

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// trainProgram returns the training program of a model of the zoo.
func trainProgram(t testing.TB, name string, replicas int, input models.Size) (
	*graph.Program, *models.Model) {
	t.Helper()
	m, err := models.Build(name, models.Options{Classes: 10, Input: input})
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: replicas, BN: bn.Sync})
	if err != nil {
		t.Fatal(err)
	}
	var trained []string
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			trained = append(trained, s.Name)
		}
	}
	train, err := spmd.TrainFunction(wrapped, spmd.Training{Trained: trained})
	if err != nil {
		t.Fatal(err)
	}
	predict, err := spmd.PredictFunction(m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	table := wrapped.State
	b := graph.NewBuilder(graph.Commit, &table)
	lr := b.Input("lr", graph.Type{Kind: graph.Whole, DType: tensor.F32})
	for _, s := range trained {
		w := b.Read(s)
		v := b.Declare(graph.State{Name: s + ".velocity", DType: tensor.F32, Shape: b.Type(w).Shape,
			Role: graph.Optimizer})
		g := b.Input(spmd.Gradient(s), b.Type(w))
		next := b.Node(graph.SGD, s+".next", graph.Attrs{}.With("weight_decay", 1e-4), w, g, v, lr)
		b.Update(s, next[0])
		b.Update(s+".velocity", next[1])
	}
	commit, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	return &graph.Program{Name: name, State: table, Functions: []*graph.Function{train, commit, predict}}, m
}

// trainer is a loaded training program with random data.
type trainer struct {
	device.Executable
	program *graph.Program
	step    device.Step
	version device.Version
}

// built holds the programs that tests have made, because initialising weights is slow.
var built = map[string]builtModel{}

type builtModel struct {
	program *graph.Program
	model   *models.Model
}

// newTrainer loads the program of a model on d for a batch split over replicas.
func newTrainer(t testing.TB, d device.Device, name string, batch, replicas int, input models.Size) *trainer {
	t.Helper()
	key := fmt.Sprint(name, replicas, input)
	if _, ok := built[key]; !ok {
		p, m := trainProgram(t, name, replicas, input)
		built[key] = builtModel{p, m}
	}
	p, m := built[key].program, built[key].model
	ctx := context.Background()
	x, err := d.Load(ctx, p, device.Capacity{Rows: batch, Replicas: replicas})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range m.State {
		if err := x.Write(ctx, name, v); err != nil {
			t.Fatal(err)
		}
	}
	tr := &trainer{Executable: x, program: p}
	r := rand.New(rand.NewPCG(9, 9))
	tr.step = device.Step{Function: graph.Train, Rows: parallel.Split(batch, replicas)}
	fn := p.Function(graph.Train)
	for _, id := range fn.Inputs {
		v := fn.Values[id]
		switch {
		case v.Name == losses.InputInverse:
			tr.step.Inputs = append(tr.step.Inputs, tensor.Scalar(float32(1)/float32(batch)))
		case v.Type.DType == tensor.I32:
			labels := tensor.New(tensor.I32, batch)
			for i := range labels.I32() {
				labels.I32()[i] = int32(r.IntN(10))
			}
			tr.step.Inputs = append(tr.step.Inputs, labels)
		default:
			tr.step.Inputs = append(tr.step.Inputs,
				randomTensor(r, v.Type.DType, append([]int{batch}, v.Type.Shape...)))
		}
	}
	return tr
}

// run makes one training step and commits it.
func (tr *trainer) run(t testing.TB) device.Outcome {
	t.Helper()
	out, err := tr.Run(context.Background(), tr.step)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Commit(context.Background(), tr.version, device.Hyper{"lr": 0.01}); err != nil {
		t.Fatal(err)
	}
	tr.version++
	tr.step.Number++
	return out
}

// Steps of training have the same bits with any number of threads and any
// instruction set of a class.
func TestTrainSameBits(t *testing.T) {
	for _, name := range []string{"resnet20", "lenet-bn", "mobilenetv2"} {
		t.Run(name, func(t *testing.T) {
			var input models.Size
			if name == "mobilenetv2" {
				input = models.Size{Height: 32, Width: 32, Channels: 3}
			}
			want := map[string]string{} // digest of each class
			for _, set := range kernel.Sets() {
				if set == kernel.Generic {
					continue // skipped because it is slow, and the only set of its class
				}
				for _, threads := range []int{1, 2, 3} {
					got := trainDigest(t, openSet(t, set.Name, threads), name, input)
					if want[set.Class] == "" {
						want[set.Class] = got
					}
					if got != want[set.Class] {
						t.Errorf("%s, %d threads: other bits than class %s before", set.Name, threads, set.Class)
					}
				}
			}
		})
	}
}

// trainDigest trains for two steps and returns a digest of all outputs and state.
func trainDigest(t *testing.T, d device.Device, name string, input models.Size) string {
	tr := newTrainer(t, d, name, 7, 3, input)
	defer tr.Close()
	h := sha256.New()
	for range 2 {
		for _, v := range tr.run(t).Outputs {
			h.Write(v.Bytes)
		}
	}
	for _, s := range tr.program.State {
		v, err := tr.Read(context.Background(), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(v.Bytes)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
