package bitwise

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// Activations is the name of a small network with all activations that the networks of the
// zoo do not use.
const Activations = "activations"

//go:embed activations.graph
var activations []byte

// Run is a short training of a model of the zoo, or of Activations.
type Run struct {
	Model           string
	Side            int // side of the images
	BN              bn.Mode
	Batch, Replicas int
	Steps           int
}

// Train trains on members and returns the resulting state.
func (r Run) Train(ctx context.Context, members []parallel.Member) (map[string]tensor.Tensor, error) {
	p, m, err := r.Program()
	if err != nil {
		return nil, err
	}
	d, err := parallel.Open(ctx, p, m.State, members, parallel.Config{Replicas: r.Replicas, Batch: r.Batch})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	draws := rand.New(rand.NewPCG(7, 7))
	for range r.Steps {
		b := parallel.Batch{Rows: map[string]tensor.Tensor{}, Inverse: 1 / float32(r.Batch),
			Sizes: parallel.Keep.Slice(r.Batch, r.Batch, r.Replicas).Sizes}
		fn := p.Function(graph.Train)
		for _, id := range fn.Inputs {
			if v := fn.Values[id]; v.Type.Kind == graph.Rows {
				b.Rows[v.Name] = randomInputs(draws, tensor.New(v.Type.DType, append([]int{r.Batch}, v.Type.Shape...)...))
			}
		}
		if _, err := d.Step(ctx, b); err != nil {
			return nil, err
		}
		if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
			return nil, err
		}
	}
	return d.State(ctx)
}

// randomInputs fills a tensor with pixels, or with labels of ten classes.
func randomInputs(r *rand.Rand, t tensor.Tensor) tensor.Tensor {
	if t.DType == tensor.I32 {
		for i := range t.I32() {
			t.I32()[i] = int32(r.IntN(10))
		}
		return t
	}
	for i := range t.Bytes {
		t.Bytes[i] = byte(r.IntN(256))
	}
	return t
}

// Program returns the program that trains the model with SGD, and the model with its weights.
func (r Run) Program() (*graph.Program, *models.Model, error) {
	m, err := r.template()
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		return nil, nil, err
	}
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: r.Replicas, BN: r.BN})
	if err != nil {
		return nil, nil, err
	}
	var trained []string
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			trained = append(trained, s.Name)
		}
	}
	train, err := spmd.TrainFunction(wrapped, spmd.Training{Trained: trained})
	if err != nil {
		return nil, nil, err
	}
	table := wrapped.State
	commit, err := descent(&table, trained)
	return &graph.Program{Name: r.Model, State: table, Functions: []*graph.Function{train, commit}}, m, err
}

// template returns the model without weights.
func (r Run) template() (*models.Model, error) {
	if r.Model == Activations {
		g, err := graph.ParseGraph(activations)
		if err != nil {
			return nil, err
		}
		return models.New(g)
	}
	a, err := models.Lookup(r.Model)
	if err != nil {
		return nil, err
	}
	return models.Build(r.Model, models.Options{Classes: 10,
		Input: models.Size{Height: r.Side, Width: r.Side, Channels: a.Input.Channels}})
}

// descent returns the function commit of SGD with momentum.
func descent(table *[]graph.State, trained []string) (*graph.Function, error) {
	b := graph.NewBuilder(graph.Commit, table)
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
	return b.Function()
}

// Differs returns an error that names a state tensor with different bits, or nil if there
// is no difference.
func Differs(got, want map[string]tensor.Tensor) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d state tensors, want %d", len(got), len(want))
	}
	for name, t := range want {
		if !bytes.Equal(got[name].Bytes, t.Bytes) {
			return fmt.Errorf("%s: %w", name, same(got[name], t))
		}
	}
	return nil
}
