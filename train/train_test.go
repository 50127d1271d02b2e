package train

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// bench is the training of the tests: a small network on a few glyphs, on ref.
type bench struct {
	t      *testing.T
	source data.Source
	recipe recipe.Recipe
}

func newBench(t *testing.T, samples int) *bench {
	t.Helper()
	src, err := data.Open(t.Context(), fmt.Sprintf("glyphs:%d", samples), data.Options{Split: data.Train})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return &bench{t, src, recipe.Recipe{Release: "test", Model: "dense", Init: "seed", Seed: 7,
		Data:   recipe.Data{Kind: "glyphs", Samples: samples, Classes: len(src.Info().Classes)},
		Epochs: 2, Batch: 16, Replicas: 4, Accumulate: 1, Tail: parallel.Keep,
		BN: bn.Sync, BNStats: bn.Pooled, BNUpdate: bn.EveryStep, WeightSync: weightsync.AllReduce, BNMin: "refuse",
		Optimizer: "sgd", LR: 0.05, Momentum: 0.9, WeightDecay: 1e-4,
		Schedule: "cosine", Precision: "f32", Save: "last", EvalEvery: 1}}
}

func (b *bench) model() *models.Model {
	b.t.Helper()
	m, err := b.network()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := models.Init(m, b.recipe.Seed); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// network makes the model without weights: one of networks, or of the zoo.
func (b *bench) network() (*models.Model, error) {
	if text, ok := networks[b.recipe.Model]; ok {
		g, err := graph.ParseGraph([]byte(text))
		if err != nil {
			return nil, err
		}
		return models.New(g)
	}
	return models.Build(b.recipe.Model,
		models.Options{Input: models.Size{Height: 28, Width: 28, Channels: 1}, Classes: b.recipe.Data.Classes})
}

func (b *bench) config(devices int) Config {
	b.t.Helper()
	var members []parallel.Member
	for i := range devices {
		d, err := ref.Provider{}.Open(context.Background(), device.DefaultID,
			device.Options{Precision: b.recipe.Precision})
		if err != nil {
			b.t.Fatal(err)
		}
		members = append(members, parallel.Member{Name: fmt.Sprintf("ref:%d", i), Device: d})
	}
	return Config{Train: b.source, Validation: b.source, Devices: members, Workers: devices}
}

// template trains to the end and returns the checksum of the template.
func (b *bench) template(s *Session, err error) string {
	b.t.Helper()
	m := b.run(s, err)
	sum, err := serialize.WriteModel(filepath.Join(b.t.TempDir(), "m.bnm"), m)
	if err != nil {
		b.t.Fatal(err)
	}
	return sum
}

// run runs a session to its end and returns the template.
func (b *bench) run(s *Session, err error) *models.Model {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	m, err := s.Run(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// TestSameTemplate trains the same recipe on several numbers of devices, under every tail and both modes. It
// also stops runs and resumes them on other devices.
func TestSameTemplate(t *testing.T) {
	for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
		for _, tail := range parallel.Tails() {
			t.Run(fmt.Sprintf("%s/%s", mode, tail), func(t *testing.T) {
				b := newBench(t, 42)
				b.recipe.BN, b.recipe.Tail = mode, tail
				ctx := context.Background()
				want := b.template(New(ctx, &b.recipe, b.model(), b.config(1)))
				for _, devices := range []int{2, 3, 4} {
					if got := b.template(New(ctx, &b.recipe, b.model(), b.config(devices))); got != want {
						t.Errorf("%d devices: template %s, on one device %s", devices, got, want)
					}
				}
				for _, step := range []int{1, 3} {
					if got := b.resumed(step); got != want {
						t.Errorf("resumed at step %d: template %s, undisturbed %s", step, got, want)
					}
				}
			})
		}
	}
}

// resumed stops a run on two devices after a step and continues it on three.
func (b *bench) resumed(step int) string {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := b.config(2)
	c.Checkpoint = filepath.Join(b.t.TempDir(), "run.bnc")
	c.Events = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Step == step {
			cancel()
		}
	}
	s, err := New(ctx, &b.recipe, b.model(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := s.Run(ctx); err != context.Canceled {
		b.t.Fatalf("stopped run returned %v", err)
	}
	s.Close()
	k, err := serialize.ReadCheckpoint(c.Checkpoint)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.template(Resume(context.Background(), k, &b.recipe, b.config(3)))
}
