package parallel

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// program returns a training program with plain SGD for a small network.
func program(t *testing.T, m *models.Model, o spmd.Options) *graph.Program {
	t.Helper()
	wrapped, err := spmd.Wrap(m.Graph, o)
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
	estimate, err := spmd.EstimateFunction(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	p := &graph.Program{Name: m.Graph.Name, State: m.Graph.State,
		Functions: []*graph.Function{train, commit(t, m, trained), predict, estimate}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

func commit(t *testing.T, m *models.Model, trained []string) *graph.Function {
	t.Helper()
	b := graph.NewBuilder(graph.Commit, &m.Graph.State)
	lr := b.Input("lr", graph.Type{Kind: graph.Whole, DType: tensor.F32})
	for _, name := range trained {
		w := b.Read(name)
		g := b.Input(spmd.Gradient(name), b.Type(w))
		b.Update(name, b.Op(graph.Sub, name+".next",
			[]graph.Value{w, b.Op(graph.Mul, name+".scaled", []graph.Value{g, lr})}))
	}
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// small returns mlp-bn with layers of 24 and 16 features instead of 256 and 128, because
// most tests run it many times.
func small(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{Input: models.Size{Height: 4, Width: 4, Channels: 1},
		Classes: 3})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("[256", "[24", "256]", "24]", "[128", "[16", "128]", "16]").Replace(string(m.Graph.Text()))
	if m.Graph, err = graph.ParseGraph([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	return m
}

func refs(t *testing.T, n int) []Member {
	t.Helper()
	var members []Member
	for i := range n {
		d, err := ref.Provider{}.Open(context.Background(), device.DefaultID, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, Member{Name: fmt.Sprintf("ref%d", i), Device: d})
	}
	return members
}

func batchOf(rows, replicas int, tail Tail, full int) Batch {
	x, y := tensor.New(tensor.U8, rows, 4, 4, 1), tensor.New(tensor.I32, rows)
	p := tensor.NewPhilox(3, tensor.StreamGlyphs)
	for i := range rows {
		d := p.Draws(0, uint64(i))
		for j := range 16 {
			x.U8()[16*i+j] = uint8(d.Intn(256))
		}
		y.I32()[i] = int32(i % 3)
	}
	return Batch{Rows: map[string]tensor.Tensor{"x": x, losses.InputLabels: y}, Inverse: 1 / float32(rows),
		Sizes: tail.Slice(rows, full, replicas).Sizes}
}

// TestSameBits: state and moments are the same on any devices.
func TestSameBits(t *testing.T) {
	ctx := context.Background()
	for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
		for _, tail := range []Tail{Keep, Pad} {
			var want string
			for _, devices := range []int{1, 2, 3, 5} {
				m := small(t)
				d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: mode}), m.State, refs(t, devices),
					Config{Replicas: 5, Batch: 20})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, rows := range []int{20, 13, 20} {
					r, err := d.Step(ctx, batchOf(rows, 5, tail, 20))
					if err != nil {
						t.Fatal(err)
					}
					if r.Counted != float64(rows) {
						t.Errorf("counted %v of %d labels", r.Counted, rows)
					}
					got += fmt.Sprint(r.Loss, r.Correct, r.Moments[0].F64())
					if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
						t.Fatal(err)
					}
				}
				state, err := d.State(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range m.Graph.State {
					got += fmt.Sprint(s.Name, state[s.Name].F32())
				}
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s, tail %s: %d devices give other bits than 1", mode, tail, devices)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
