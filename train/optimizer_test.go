package train

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// torchOptimizers is the output of testdata/optimizers.py: see there.
//
//go:embed testdata/optimizers.txt
var torchOptimizers string

// Six updates of every optimizer that PyTorch also has give PyTorch's results.
func TestOptimizersAsInPyTorch(t *testing.T) {
	cases := map[string]recipe.Recipe{
		"sgd":           {Optimizer: "sgd", LR: 0.1, Momentum: 0.9, WeightDecay: 0.01},
		"nesterov":      {Optimizer: "sgd", LR: 0.1, Momentum: 0.9, WeightDecay: 0.01, Nesterov: true},
		"plain":         {Optimizer: "sgd", LR: 0.1},
		"ema":           {Optimizer: "sgd", LR: 0.1, EMA: 0.9},
		"ema-warm":      {Optimizer: "sgd", LR: 0.1, EMA: 0.3, EMAWarmup: true},
		"clipped":       {Optimizer: "sgd", LR: 0.1, Momentum: 0.9, ClipNorm: 1.5},
		"slower":        {Optimizer: "sgd", LR: 1, Momentum: 0.9, WeightDecay: 0.01, LROf: []string{"*=5x", "w=0.1x"}},
		"adam-slower":   {Optimizer: "adam", LR: 1, WeightDecay: 0.01, LROf: []string{"[vw]=0.1x"}},
		"adam":          {Optimizer: "adam", LR: 0.1, WeightDecay: 0.01},
		"adamw":         {Optimizer: "adamw", LR: 0.1, WeightDecay: 0.01},
		"adamw-clipped": {Optimizer: "adamw", LR: 0.01, ClipNorm: 1.5},
	}
	updates := map[string]func() []float32{}
	seen := 0
	for line := range strings.Lines(torchOptimizers) {
		f := strings.Fields(line)
		name := f[0]
		if updates[name] == nil {
			updates[name] = eightWeights(t, cases[name])
		}
		for i, got := range updates[name]() {
			var want float64
			fmt.Sscan(f[2+i], &want)
			if math.Abs(float64(got)-want) > 2e-6 {
				t.Errorf("%s, step %s: weight %d is %.9g, PyTorch has %.9g", name, f[1], i, got, want)
			}
		}
		seen++
	}
	if want := 6 * len(cases); seen != want {
		t.Errorf("%d steps in the golden file, want %d", seen, want)
	}
}

// eightWeights returns a function that makes one more update of the script's weights.
func eightWeights(t *testing.T, r recipe.Recipe) func() []float32 {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	r.Batch, r.Replicas, r.Accumulate, r.Schedule, r.Steps, r.Data.Samples = 1, 1, 1, "constant", 6, 1
	table := []graph.State{{Name: "w", DType: tensor.F32, Shape: []int{8}, Role: graph.Weight}}
	b := graph.NewBuilder(graph.Train, &table)
	g := b.Input("g", graph.Type{Kind: graph.Whole, DType: tensor.F32, Shape: []int{8}})
	b.Output(spmd.Gradient("w"), b.Op(graph.Affine, "kept", []graph.Value{g}), true)
	train, err := b.Function()
	must(err)
	commit, err := commitFunction(&r, &table, []string{"w"})
	must(err)
	schedule, err := recipe.NewSchedule(&r)
	must(err)
	p := &graph.Program{Name: "weights", State: table, Functions: []*graph.Function{train, commit}}
	must(p.Check())
	exe, err := ref.New("ref").Load(ctx, p, device.Capacity{Rows: 1, Replicas: 1})
	must(err)
	t.Cleanup(func() { exe.Close() })
	w := tensor.New(tensor.F32, 8)
	for i := range w.F32() {
		w.F32()[i] = float32(i-3) / 2
	}
	read := "w"
	must(exe.Write(ctx, "w", w))
	if r.EMA > 0 {
		read = "average/w"
		must(exe.Write(ctx, read, w))
	}
	step := 0
	return func() []float32 {
		t.Helper()
		g := tensor.New(tensor.F32, 8)
		for i := range g.F32() {
			g.F32()[i] = float32((7*i+13*step)%11-5) / 4
		}
		_, err := exe.Run(ctx, device.Step{Function: graph.Train, Rows: []int{1}, Inputs: []tensor.Tensor{g}})
		must(err)
		must(exe.Commit(ctx, device.Version(step), Hyper(&r, schedule, step, 0)))
		step++
		w, err := exe.Read(ctx, read)
		must(err)
		return w.F32()
	}
}

// Repeated rows begin with the first row. If more rows are needed than there are, the sequence starts
// again.
func TestRepeatRows(t *testing.T) {
	rows := tensor.Of([]int32{1, 2, 3, 4, 5, 6}, 3, 2)
	got := repeatRows(rows, 5)
	want := []int32{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4}
	if !slices.Equal(got.I32(), want) || !slices.Equal(got.Shape, []int{8, 2}) {
		t.Errorf("%v %v, want %v", got.Shape, got.I32(), want)
	}
}
