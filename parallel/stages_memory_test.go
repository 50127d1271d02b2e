package parallel_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// narrow is a device that refuses programs and reports a given memory.
type narrow struct {
	device.Device
	refuses func(p *graph.Program) bool
	free    int64
}

func (d narrow) Info() device.Info {
	i := d.Device.Info()
	i.MemoryFree, i.MemoryTotal = d.free, d.free
	return i
}

func (d narrow) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if d.refuses(p) {
		return nil, device.Errorf(d.Info().Name, "Load", device.OutOfMemory, "want 2 MiB, have 1 MiB free")
	}
	return d.Device.Load(ctx, p, c)
}

func narrows(n int, free int64, refuses func(*graph.Program) bool) []parallel.Member {
	members := refs(n)
	for i := range members {
		members[i].Device = narrow{members[i].Device, refuses, free}
	}
	return members
}

// TestStagesFitTheMemory: four devices refuse programs with more than a number of state tensors.
// The number of stages grows until the programs fit, and the result is the same as on one device.
// If no number of stages fits, the error is the device's refusal.
func TestStagesFitTheMemory(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	config := parallel.Config{Replicas: 4, Batch: 8}
	one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want := fingerprint(t, one, p)
	for _, c := range []struct{ most, stages int }{{1000, 1}, {len(p.State) - 1, 2}, {5, 0}} {
		stages := 0
		config.Divided = func(p *parallel.Plan) { stages = len(p.Stages) }
		refuses := func(p *graph.Program) bool { return len(p.State) > c.most }
		d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Auto: true}, m.State,
			narrows(4, 0, refuses), config)
		if c.stages == 0 {
			if !errors.Is(err, device.OutOfMemory) || !strings.Contains(err.Error(), "have 1 MiB free") {
				t.Errorf("at most %d tensors: %v", c.most, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if stages != c.stages {
			t.Errorf("at most %d tensors: %d stages, want %d", c.most, stages, c.stages)
		}
		for name, v := range fingerprint(t, d, p) {
			if !bytes.Equal(v, want[name]) {
				t.Errorf("%d stages: %s has other bits than on one device", stages, name)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	pm, predicts := smallModel(t)
	x := tensor.New(tensor.F32, 3, 4)
	l, err := parallel.OpenPipeline(t.Context(), pm.Graph, predicts, stage.Spec{Auto: true}, pm.State,
		narrows(3, 0, func(p *graph.Program) bool { return len(p.State) > 1 }), parallel.Config{Batch: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Predict(t.Context(), x); err != nil {
		t.Error(err)
	}
}

// TestStagesRecompute: the program that recomputes activations is loaded if a device has
// refused the normal one, or if the plan shows that it does not fit.
func TestStagesRecompute(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	again := &graph.Program{Name: p.Name, State: p.State, Functions: slices.Clone(p.Functions)}
	refuses := func(p *graph.Program) bool { return !strings.HasPrefix(p.Name, "again") }
	for _, c := range []struct {
		free    int64
		refuses func(*graph.Program) bool
		want    bool
	}{{0, refuses, true}, {100, func(*graph.Program) bool { return false }, true},
		{1 << 30, func(*graph.Program) bool { return false }, false}} {
		asked := false
		config := parallel.Config{Replicas: 4, Batch: 8, Recomputing: func() (*graph.Program, error) {
			asked, again.Name = true, "again"
			return again, nil
		}}
		d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 2}, m.State,
			narrows(2, c.free, c.refuses), config)
		if err != nil || asked != c.want {
			t.Fatalf("with %d bytes free: computed again %t, want %t; %v", c.free, asked, c.want, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
