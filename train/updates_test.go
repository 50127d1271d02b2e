package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// updated returns a weight and a bias, of one element each, after one update from their gradients.
func updated(t *testing.T, r recipe.Recipe, values, gradients [2]float32) (after [2]float32, names []string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	r.Batch, r.Replicas, r.Accumulate, r.Schedule, r.Steps, r.Data.Samples = 1, 1, 1, "constant", 6, 1
	trained := []string{"w", "b"}
	table := []graph.State{{Name: "w", DType: tensor.F32, Shape: []int{1}, Role: graph.Weight},
		{Name: "b", DType: tensor.F32, Shape: []int{1}, Role: graph.Bias}}
	b := graph.NewBuilder(graph.Train, &table)
	for _, name := range trained {
		g := b.Input("g."+name, graph.Type{Kind: graph.Whole, DType: tensor.F32, Shape: []int{1}})
		b.Output(spmd.Gradient(name), b.Op(graph.Affine, "kept."+name, []graph.Value{g}), true)
	}
	train, err := b.Function()
	must(err)
	commit, err := commitFunction(&r, &table, trained)
	must(err)
	schedule, err := recipe.NewSchedule(&r)
	must(err)
	p := &graph.Program{Name: "two", State: table, Functions: []*graph.Function{train, commit}}
	must(p.Check())
	exe, err := ref.New("ref").Load(ctx, p, device.Capacity{Rows: 1, Replicas: 1})
	must(err)
	t.Cleanup(func() { exe.Close() })
	var in []tensor.Tensor
	for i, name := range trained {
		must(exe.Write(ctx, name, tensor.Of([]float32{values[i]}, 1)))
		in = append(in, tensor.Of([]float32{gradients[i]}, 1))
	}
	_, err = exe.Run(ctx, device.Step{Function: graph.Train, Rows: []int{1}, Inputs: in})
	must(err)
	must(exe.Commit(ctx, 0, Hyper(&r, schedule, 0, 0)))
	for i, name := range trained {
		w, err := exe.Read(ctx, name)
		must(err)
		after[i] = w.F32()[0]
	}
	for _, s := range table {
		names = append(names, s.Name)
	}
	return after, names
}

// Gradients are clipped by the norm over all tensors (torch.nn.utils.clip_grad_norm_). LARS scales
// the step of a weight by its trust ratio, and updates tensors without decay as SGD does (You,
// Gitman, Ginsburg 2017, section 4, without weight decay of biases). There is an average if the
// recipe requests one.
func TestUpdatesOfSeveralTensors(t *testing.T) {
	values, gradients := [2]float32{2, 5}, [2]float32{3, -4}
	const eta = 0.001
	for _, c := range []struct {
		name   string
		recipe recipe.Recipe
		want   [2]float64
		state  string
	}{
		{"plain", recipe.Recipe{Optimizer: "sgd", LR: 0.5}, [2]float64{2 - 1.5, 5 + 2}, "w b velocity/w velocity/b"},
		{"clipped", recipe.Recipe{Optimizer: "sgd", LR: 0.5, ClipNorm: 1}, [2]float64{2 - 0.3, 5 + 0.4},
			"w b velocity/w velocity/b"},
		{"not clipped", recipe.Recipe{Optimizer: "sgd", LR: 0.5, ClipNorm: 6}, [2]float64{2 - 1.5, 5 + 2},
			"w b velocity/w velocity/b"},
		{"averaged", recipe.Recipe{Optimizer: "sgd", LR: 0.5, EMA: 0.9}, [2]float64{2 - 1.5, 5 + 2},
			"w b velocity/w average/w velocity/b average/b"},
		{"lars", recipe.Recipe{Optimizer: "lars", LR: 0.5, WeightDecay: 0.1}, [2]float64{
			2 - 0.5*eta*2/(3+0.1*2)*(3+0.1*2), 5 + 2}, "w b velocity/w velocity/b"},
		{"lars of all", recipe.Recipe{Optimizer: "lars", LR: 0.5, WeightDecay: 0.1, DecayAll: true}, [2]float64{
			2 - 0.5*eta*2/(3+0.1*2)*(3+0.1*2), 5 - 0.5*eta*5/(4+0.1*5)*(-4+0.1*5)}, "w b velocity/w velocity/b"},
		{"adamw", recipe.Recipe{Optimizer: "adamw", LR: 0.5}, [2]float64{2 - 0.5, 5 + 0.5},
			"w b adam.m/w adam.v/w adam.m/b adam.v/b"},
	} {
		got, names := updated(t, c.recipe, values, gradients)
		for i := range got {
			if math.Abs(float64(got[i])-c.want[i]) > 1e-5 {
				t.Errorf("%s: tensor %d becomes %v, want %v", c.name, i, got[i], c.want[i])
			}
		}
		if state := strings.Join(names, " "); state != c.state {
			t.Errorf("%s: there is %s, want %s", c.name, state, c.state)
		}
	}
}

// A step ends with an error if each replica can hold its statistics in float32 but their merged value is too
// large.
func TestMergerBeyondFloat32(t *testing.T) {
	b := newBench(t, 24)
	b.recipe.BN, b.recipe.BNUpdate = bn.Replica, bn.PostHoc
	s, err := New(context.Background(), &b.recipe, b.model(), b.config(1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	moments := func(mean float64) (all []tensor.Tensor) {
		for _, l := range s.plan.layers {
			m := tensor.New(tensor.F64, b.recipe.Replicas, 1+2*l.Channels)
			for r := range b.recipe.Replicas {
				row := m.F64()[r*(1+2*l.Channels):]
				row[0] = 4
				for c := range l.Channels {
					row[1+c], row[1+l.Channels+c] = mean*float64(1-2*(r%2)), 4
				}
			}
			all = append(all, m)
		}
		return all
	}
	if _, err := s.trainer.statistics.next(moments(1)); err != nil {
		t.Errorf("means of 1 and -1: %v", err)
	}
	if _, err := s.trainer.statistics.next(moments(1e25)); err == nil {
		t.Error("means of 1e25 and -1e25 were merged")
	}
}

// The reported loss does not depend on the scale of the weights of classes.
func TestLossByWeightsOfClasses(t *testing.T) {
	of := func(weights string) (losses []float64) {
		b := newBench(t, 42)
		b.recipe.ClassWeights, b.recipe.LR, b.recipe.Epochs = weights, 1e-6, 1
		for _, e := range of[EpochDone](b.told(nil)) {
			losses = append(losses, e.TrainLoss, float64(*e.ValLoss))
		}
		return losses
	}
	want := of("")
	got := of(strings.TrimSuffix(strings.Repeat("2,", 10), ","))
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-5*want[i] {
			t.Errorf("losses %v with weights of 2, %v without", got, want)
		}
	}
}
