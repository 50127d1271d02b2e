package serialize

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// tinyModel is a template with one batch norm: small enough to damage every
// byte of its file.
func tinyModel(t testing.TB) *models.Model {
	g := &graph.Graph{Name: "tiny"}
	b := graph.NewBuilder("main", &g.State)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2, 3, 1}})
	param := func(name string, r graph.Role, rule string) graph.Value {
		return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: []int{2}, Role: r,
			Init: graph.Init{Rule: rule}})
	}
	y := b.Op(graph.BatchNorm, "bn1", []graph.Value{x, param("bn1.weight", graph.Gamma, "ones"),
		param("bn1.bias", graph.Beta, "zeros"), param("bn1.running_mean", graph.Mean, "zeros"),
		param("bn1.running_var", graph.Variance, "ones")}, "decay", 0.99, "eps", 1e-3)
	b.Output("logits", b.Op(graph.Relu, "relu", []graph.Value{y}), false)
	var err error
	if g.Main, err = b.Function(); err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "tiny", Graph: g, Labels: []string{"cat", "dog"},
		Recipe: []byte(`{"seed":1}`), Preprocess: models.Preprocess{Resize: 8, Known: true}}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	return m
}

// tinyCheckpoint is tinyModel in training by two replicas.
func tinyCheckpoint(t testing.TB) *Checkpoint {
	m := tinyModel(t)
	velocity := graph.State{Name: "bn1.weight.velocity", DType: tensor.F32, Shape: []int{2},
		Role: graph.Optimizer}
	c := &Checkpoint{Architecture: m.Architecture, Graph: wrapTiny(t, m.Graph, true), Preprocess: m.Preprocess,
		Labels: m.Labels, Recipe: m.Recipe, Progress: []byte(`{"step":3}`), State: m.State,
		Training: []graph.State{velocity},
		Sets: []Set{
			{Name: "best", Tensors: map[string]tensor.Tensor{"b": tensor.Of([]float64{1}, 1),
				"a": tensor.Of([]int64{7})}},
			{Name: "first", Updates: []int64{3},
				Tensors: map[string]tensor.Tensor{"bn1.running_mean": tensor.Of([]float32{5, 6}, 2)}},
		},
		Attachments: map[string][]byte{"pending": {1, 2, 3}, "another": nil},
	}
	c.State[velocity.Name] = tensor.Of([]float32{0.5, -0.5}, 2)
	return c
}

// wrapTiny adds the replica connections to the graph of tinyModel.
func wrapTiny(t testing.TB, g *graph.Graph, sync bool) *graph.Graph {
	out := &graph.Graph{Name: g.Name, State: g.State}
	b := graph.NewBuilder("main", &out.State)
	x := b.Input("x", g.Main.Values[g.Main.Inputs[0]].Type)
	x = b.Op(graph.Split, "x.split", []graph.Value{x}, "replicas", 2)
	gamma, beta := b.Read("bn1.weight"), b.Read("bn1.bias")
	mean, variance := b.Read("bn1.running_mean"), b.Read("bn1.running_var")
	m := b.Op(graph.Moments, "bn1.moments", []graph.Value{x})
	use, over := m, "replica"
	if sync {
		use, over = b.Op(graph.AllReduce, "bn1.merged", []graph.Value{m}, "of", "moments"), "batch"
	} else {
		running := b.Op(graph.RunningMoments, "bn1.running", []graph.Value{mean, variance})
		use = b.Op(graph.SelectMoments, "bn1.selected", []graph.Value{m, running})
	}
	y := b.Op(graph.Normalise, "bn1", []graph.Value{x, use, gamma, beta}, "eps", 1e-3, "over", over)
	b.Node(graph.Track, "bn1.track", graph.Attrs{}.With("decay", 0.99), m, mean, variance)
	y = b.Op(graph.Relu, "relu", []graph.Value{y})
	b.Output("logits", b.Op(graph.Gather, "relu.gather", []graph.Value{y}, "replicas", 2), false)
	var err error
	if out.Main, err = b.Function(); err != nil {
		t.Fatal(err)
	}
	return out
}

// fileOf returns the bytes of tinyModel's file.
func fileOf(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "m.bnm")
	if _, err := WriteModel(path, tinyModel(t)); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func read(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// put writes b to a new file and returns its name.
func put(t testing.TB, b []byte) string {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
