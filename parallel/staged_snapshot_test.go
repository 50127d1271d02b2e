package parallel_test

import (
	"bytes"
	"context"
	"math"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// unreadable is a device that dies when its state is read.
type unreadable struct {
	device.Device
	from *atomic.Bool // the device dies once this is set
}

func (d unreadable) Load(ctx context.Context, p *graph.Program,
	c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return unreadableExecutable{x, d}, err
}

type unreadableExecutable struct {
	device.Executable
	d unreadable
}

func (x unreadableExecutable) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	if x.d.from.Load() {
		return tensor.Tensor{}, device.Errorf(x.d.Info().Name, "Read", device.Lost, "it has died")
	}
	return x.Executable.Read(ctx, name)
}

// TestStagedLosesADeviceInASnapshot: the second stage dies while its state is read for a
// snapshot that the first stage already has, and the first stage dies in the repeated
// steps.
func TestStagedLosesADeviceInASnapshot(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	config := parallel.Config{Replicas: 4, Batch: 8}
	snapshot := func(d train.Driver, before func()) map[string]tensor.Tensor {
		t.Helper()
		for i := range 3 {
			b := stagedBatch(p, []int{2, 2, 2, 2}, uint64(i))
			if i == 2 {
				before()
				if _, err := d.Snapshot(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := d.Step(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if err := d.Commit(t.Context(), device.Hyper{"lr": 0.1}); err != nil {
				t.Fatal(err)
			}
		}
		state, err := d.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want := snapshot(one, func() {})
	config.Reopen = func(_ context.Context, name string) (device.Device, error) { return ref.New(name), nil }
	for _, left := range []int32{0, 3, 9, 12} {
		members, runs, from := refs(2), new(atomic.Int32), new(atomic.Bool)
		runs.Store(math.MaxInt32)
		members[0].Device, members[1].Device = mortal{members[0].Device, runs}, unreadable{members[1].Device, from}
		d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 2}, m.State, members, config)
		if err != nil {
			t.Fatal(err)
		}
		got := snapshot(d, func() {
			runs.Store(left)
			from.Store(true)
		})
		for name, v := range got {
			if !bytes.Equal(v.Bytes, want[name].Bytes) {
				t.Errorf("lost after %d runs: %s has other bits", left, name)
			}
		}
		if runs.Load() >= 0 {
			t.Errorf("the first stage has made %d runs less than it was to die after", runs.Load())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
