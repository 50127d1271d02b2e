package parallel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// everything makes two steps, writes, predicts, and reads the state; it returns all results
// as text.
func everything(t *testing.T, members []Member, c Config) (string, error) {
	ctx, m := context.Background(), small(t)
	c.Replicas, c.Batch = 5, 20
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync}), m.State, members, c)
	if err != nil {
		return "", err
	}
	defer d.Close()
	got := ""
	for i := range 2 {
		r, err := d.Step(ctx, batchOf(20-i, 5, Keep, 20))
		if err != nil {
			return "", err
		}
		got += fmt.Sprint(r.Loss, r.Moments[0].F64())
		if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
			return "", err
		}
		bias := small(t).State["bn1.bias"]
		bias.F32()[1] = float32(i + 5)
		if err := d.Write(ctx, map[string]tensor.Tensor{"bn1.bias": bias}); err != nil {
			return "", err
		}
	}
	outs, err := d.Predict(ctx, batchOf(7, 5, Keep, 20).Rows["x"])
	if err != nil {
		return "", err
	}
	got += fmt.Sprint(outs[0].F32())
	state, err := d.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	for _, s := range m.Graph.State {
		got += fmt.Sprint(state[s.Name].F32())
	}
	return got, nil
}

// lostAt calls f with a device that is lost at call 0, 1, ... until f makes fewer calls.
func lostAt(t *testing.T, f func(dying Member) error) {
	t.Helper()
	for at := int64(0); ; at++ {
		over := false
		synctest.Test(t, func(t *testing.T) {
			d := &mistaken{Device: refs(t, 1)[0].Device, at: at, lost: true}
			if err := f(Member{Name: "dying", Device: d}); err != nil {
				t.Errorf("lost at call %d: %v", at, err)
			}
			over = atomic.LoadInt64(&d.calls) <= at
		})
		if over {
			return
		}
	}
}

// Whichever call a device is lost at, the run has the same bits as an undisturbed one and reports
// the loss once. In the cases with ret, another device takes its place.
func TestLostAtEveryCall(t *testing.T) {
	want, err := everything(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		devices, at   int // index at is the device that is lost
		template, ret bool
		clumsy        bool // the updates of the lost device are inexact (see clumsy)
	}{
		{"one alone", 1, 0, false, true, false},
		{"one alone with a template", 1, 0, true, true, false},
		{"the first of two", 2, 0, false, false, false},
		{"the second of two, which returns", 2, 1, false, true, false},
		{"the one that updates", 2, 0, true, false, false},
		{"one that gets weights", 2, 1, true, true, false},
		{"one whose updates are its own", 3, 1, false, true, true},
	} {
		lostAt(t, func(dying Member) error {
			lost, back := 0, 0
			config := Config{Template: c.template, Lost: func(e LostDevice) {
				if lost++; e.Device != "dying" || !errors.Is(e.Reason, device.Lost) || len(e.MovedTo) != c.devices-1 {
					t.Errorf("%s: %+v", c.name, e)
				}
			}, Back: func(e RejoinedDevice) { back++ }}
			if c.ret {
				config.Reopen = func(context.Context, string) (device.Device, error) { return refs(t, 1)[0].Device, nil }
			}
			if c.clumsy {
				dying.Device = &clumsy{dying.Device}
			}
			got, err := everything(t, slices.Insert(refs(t, c.devices-1), c.at, dying), config)
			if err == nil && got != want {
				err = errors.New("other bits")
			}
			if lost > 1 || back > lost || c.devices == 1 && back != lost {
				err = errors.Join(err, fmt.Errorf("%d losses, %d came back", lost, back))
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", c.name, err)
			}
			return err
		})
	}
}

// The same test with ranks that have one device each: the rank that loses its device gets another
// one, with the state of the other rank.
func TestRanksLoseADeviceAtEveryCall(t *testing.T) {
	want, err := everything(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for dies := range 2 {
		lostAt(t, func(dying Member) error {
			said, err := onRanks(2, func(p *fabric.Peers) (string, error) {
				members := refs(t, 1)
				if p.Rank() == dies {
					members[0] = dying
				}
				return everything(t, members, Config{Peers: p,
					Reopen: func(context.Context, string) (device.Device, error) { return refs(t, 1)[0].Device, nil }})
			})
			for rank, got := range said {
				if err == nil && got != want {
					err = fmt.Errorf("rank %d of 2 has other bits", rank)
				}
			}
			return err
		})
	}
}
