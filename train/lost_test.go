package train

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
)

// brief is a device that dies at every n-th call, counted over all devices of this kind.
type brief struct {
	device.Device
	calls *atomic.Int64
	every int64
	dead  atomic.Bool
}

func (b *brief) live() error {
	if b.calls.Add(1)%b.every == 0 {
		b.dead.Store(true)
	}
	if b.dead.Load() {
		return device.Errorf("brief", "", device.Lost, "died")
	}
	return nil
}

func (b *brief) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := b.Device.Load(ctx, p, c)
	return &briefExe{exe, b}, err
}

type briefExe struct {
	device.Executable
	b *brief
}

func (e *briefExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if err := e.b.live(); err != nil {
		return device.Outcome{}, err
	}
	return e.Executable.Run(ctx, s)
}

func (e *briefExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	if err := e.b.live(); err != nil {
		return err
	}
	return e.Executable.Commit(ctx, v, h)
}

// briefly returns the configuration of a run on one device that dies at every
// n-th call, and is opened again.
func (b *bench) briefly(every int64) (Config, *int) {
	calls, lost := &atomic.Int64{}, 0
	open := func(ctx context.Context, _ string) (device.Device, error) {
		d, err := ref.Provider{}.Open(ctx, device.DefaultID, device.Options{})
		return &brief{Device: d, calls: calls, every: every}, err
	}
	d, err := open(context.Background(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	c := b.config(0)
	c.Devices, c.Reopen = []parallel.Member{{Name: "brief", Device: d}}, open
	c.Events = func(e Event) {
		if _, ok := e.(DeviceLost); ok {
			lost++
		}
	}
	return c, &lost
}

// TestTheOnlyDeviceIsLostInEveryMode checks that a replay from the last snapshot has the
// same bits, with pending and separate state of every kind.
func TestTheOnlyDeviceIsLostInEveryMode(t *testing.T) {
	for name, change := range map[string]func(*recipe.Recipe){
		"allreduce":       func(*recipe.Recipe) {},
		"template":        func(r *recipe.Recipe) { r.WeightSync = weightsync.Template },
		"late gradients":  func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, "async:2" },
		"own weights":     func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, "periodic:3" },
		"late statistics": func(r *recipe.Recipe) { r.BN, r.BNUpdate = bn.Replica, "async:2" },
		"own statistics":  func(r *recipe.Recipe) { r.BN, r.BNUpdate = bn.Replica, bn.PostHoc },
		"running for few": func(r *recipe.Recipe) { r.BN, r.BNMin = bn.Replica, "running" },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 24)
			change(&b.recipe)
			want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
			c, lost := b.briefly(12)
			if got := b.template(New(context.Background(), &b.recipe, b.model(), c)); got != want {
				t.Errorf("template %s with losses, %s without", got, want)
			}
			if *lost == 0 {
				t.Error("no device was lost")
			}
		})
	}
}
