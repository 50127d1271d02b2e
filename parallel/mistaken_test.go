package parallel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

var errPlanted = errors.New("planted")

// mistaken is a healthy device that returns an error for one call, or is lost at that call.
type mistaken struct {
	device.Device
	calls, at int64 // the call that fails, from 0
	blind     bool  // the device lacks device.FiniteUpdates: it does not check its updates
	lost      bool
}

func (d *mistaken) Info() device.Info {
	i := d.Device.Info()
	if d.blind {
		sees := func(feature string) bool { return feature == device.FiniteUpdates }
		i.Features = slices.DeleteFunc(slices.Clone(i.Features), sees)
	}
	return i
}

func (d *mistaken) next(call string) error {
	at := atomic.AddInt64(&d.calls, 1) - 1
	if d.lost && at >= d.at {
		return device.Errorf("mistaken", call, device.Lost, "planted")
	}
	if !d.lost && at == d.at {
		return fmt.Errorf("%s: %w", call, errPlanted)
	}
	return nil
}

func (d *mistaken) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if err := d.next("Load"); err != nil {
		return nil, err
	}
	exe, err := d.Device.Load(ctx, p, c)
	return &mistakenExe{exe, d}, err
}

func (d *mistaken) Join(ctx context.Context, g device.Group) error {
	if err := d.next("Join"); err != nil {
		return err
	}
	return d.Device.Join(ctx, g)
}

func (d *mistaken) Close() error {
	if d.lost {
		return device.Errorf("mistaken", "Close", device.Lost, "planted")
	}
	return d.Device.Close()
}

type mistakenExe struct {
	device.Executable
	d *mistaken
}

func (e *mistakenExe) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	if err := e.d.next("Write"); err != nil {
		return err
	}
	return e.Executable.WriteAll(ctx, names, state)
}

func (e *mistakenExe) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	if err := e.d.next("Read"); err != nil {
		return tensor.Tensor{}, err
	}
	return e.Executable.Read(ctx, name)
}

func (e *mistakenExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if err := e.d.next("Run"); err != nil {
		return device.Outcome{}, err
	}
	return e.Executable.Run(ctx, s)
}

func (e *mistakenExe) Grow(ctx context.Context, c device.Capacity) error {
	if err := e.d.next("Grow"); err != nil {
		return err
	}
	return e.Executable.Grow(ctx, c)
}

func (e *mistakenExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	if err := e.d.next("Commit"); err != nil {
		return err
	}
	return e.Executable.Commit(ctx, v, h)
}

// callsOf runs f with devices that fail at call 0, 1, ... until f needs fewer calls, so that no call fails.
// It checks the error that f returns.
func callsOf(t *testing.T, stride int64, blind bool, f func(m Member, at int64) error) {
	t.Helper()
	for at := int64(0); ; at += stride {
		d := &mistaken{Device: refs(t, 1)[0].Device, at: at, blind: blind}
		err := f(Member{Name: "mistaken", Device: d}, at)
		if d.calls <= at {
			if err != nil || at == 0 {
				t.Errorf("undisturbed, %d calls: %v", d.calls, err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), errPlanted.Error()) {
			t.Errorf("call %d: %v, want the error of the device", at, err)
		}
	}
}

// An error of a device, at any call, is the error of the run, and the device is not lost.
func TestNoErrorIsPassedOver(t *testing.T) {
	lost := Config{Lost: func(e LostDevice) { t.Errorf("%s counts as lost: %v", e.Device, e.Reason) }}
	for _, devices := range []int{1, 2} {
		for _, template := range []bool{false, true} {
			c := lost
			c.Template = template
			callsOf(t, int64(2*devices-1), devices == 1 && !template, func(m Member, _ int64) error {
				return mistakenSteps(t, append(refs(t, devices-1), m), c)
			})
		}
	}
}

// mistakenSteps makes two steps, predicts, and reads the state.
func mistakenSteps(t *testing.T, members []Member, c Config) error {
	ctx, m := context.Background(), small(t)
	c.Replicas, c.Batch = 5, 20
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync}), m.State, members, c)
	if err != nil {
		return err
	}
	defer d.Close()
	for range 2 {
		if _, err := d.Step(ctx, batchOf(20, 5, Keep, 20)); err != nil {
			return err
		}
		if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
			return err
		}
	}
	if _, err := d.Predict(ctx, batchOf(7, 5, Keep, 20).Rows["x"]); err != nil {
		return err
	}
	_, err = d.Snapshot(ctx)
	return err
}

// All ranks return the error, which names the rank where it occurred.
func TestRanksHearOfErrors(t *testing.T) {
	stride := int64(1)
	if testing.Short() {
		stride = 3
	}
	callsOf(t, stride, false, func(m Member, at int64) error {
		errs := make([]error, 2)
		_, _ = onRanks(2, func(p *fabric.Peers) (string, error) {
			members := refs(t, 1)
			if p.Rank() == 1 {
				members[0] = m
			}
			err := mistakenSteps(t, members, Config{Peers: p})
			if errs[p.Rank()] = err; err != nil {
				p.Abort(err.Error())
			}
			return "", err
		})
		if (errs[0] == nil) != (errs[1] == nil) {
			t.Errorf("call %d: rank 0 says %v, rank 1 %v", at, errs[0], errs[1])
		}
		return errors.Join(errs...)
	})
}
