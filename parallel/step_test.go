package parallel

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/weightsync"
)

// reopens returns a configuration in which every attempt to open a device fails.
func reopens() Config {
	return Config{Reopen: func(context.Context, string) (device.Device, error) { return nil, errPlanted },
		Timeout: time.Minute}
}

// The ledger copies the data of steps that may be repeated, and drops this data when a snapshot is
// taken.
func TestWhatTheLedgerKeeps(t *testing.T) {
	d, b := opened(t, refs(t, 1), reopens()), batchOf(20, 5, Keep, 20)
	if _, err := d.Step(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	was := d.ledger.Batch.Rows["x"].U8()[3]
	b.Rows["x"].U8()[3]++
	if got := d.ledger.Batch.Rows["x"].U8()[3]; got != was {
		t.Error("the caller's batch is the ledger's")
	}
	if err := d.Commit(t.Context(), device.Hyper{"lr": 0.1}); err != nil || len(d.ledger.Entries) != 1 {
		t.Errorf("%d entries, %v", len(d.ledger.Entries), err)
	}
	d.commitErr = errPlanted
	if _, err := d.Snapshot(t.Context()); err == nil || len(d.ledger.Entries) != 1 {
		t.Errorf("a snapshot that fails: %d entries, %v", len(d.ledger.Entries), err)
	}
	d.commitErr = nil
	state, err := d.Snapshot(t.Context())
	if err != nil || len(d.ledger.Entries) != 0 || d.ledger.Version != 1 || len(d.ledger.State) != len(state) {
		t.Errorf("after a snapshot: %d entries, %d tensors of version %d, %v", len(d.ledger.Entries),
			len(d.ledger.State), d.ledger.Version, err)
	}
	for _, c := range []struct {
		d    Driver
		want bool
	}{
		{Driver{}, false}, {Driver{config: reopens()}, true}, {Driver{ranks: &rankGroup{}}, false},
		{Driver{config: reopens(), ranks: &rankGroup{}}, false},
	} {
		if c.d.keepsLedger() != c.want {
			t.Errorf("opened again: %v, ranks: %v: a ledger is kept: %v", c.d.config.Reopen != nil, c.d.ranks != nil,
				!c.want)
		}
	}
}

// TestWhatGetsOn: Moments returns the same moments as a step. Moments, predictions and local steps
// count as progress.
func TestWhatGetsOn(t *testing.T) {
	b := batchOf(13, 5, Keep, 20)
	b.Inverses = []float32{1, 1, 1, 1, 1}
	stepped, err := opened(t, refs(t, 1), Config{}).Step(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		local bool
		steps int // steps that are counted for the device
		f     func(d *Driver) error
	}{
		{"Moments", false, 1, func(d *Driver) error {
			r, err := d.Moments(t.Context(), b)
			if err == nil && fmt.Sprint(r.Moments[1].F64()) != fmt.Sprint(stepped.Moments[1].F64()) {
				t.Error("moments are not those of a step")
			}
			return err
		}},
		{"Predict", false, 1, func(d *Driver) error {
			_, err := d.Predict(t.Context(), b.Rows["x"])
			return err
		}},
		{"Local.Step", true, 5, func(d *Driver) error {
			_, err := weightsync.NewLocalSGD(d.OneByOne(), small(t).State).Step(t.Context(), b, nil)
			return err
		}},
	} {
		wrong := &mistaken{Device: refs(t, 1)[0].Device, at: -1}
		d := opened(t, []Member{{Name: "wrong", Device: wrong}}, Config{Local: c.local})
		member := d.group.members[0]
		for _, fails := range []bool{true, false} {
			d.recovery.losses.count, member.steps = 7, 0
			if wrong.at = -1; fails {
				wrong.at = wrong.calls
			}
			if err := c.f(d); (err != nil) != fails {
				t.Errorf("%s: %v", c.name, err)
			}
			if got := d.recovery.losses.count; (got == 7) != fails || !fails && member.steps != c.steps {
				t.Errorf("%s, which fails: %v: %d losses, %d steps", c.name, fails, got, member.steps)
			}
		}
		if rows := member.pace.rows; c.local && rows != 13 {
			t.Errorf("%s: the device was measured with %d rows", c.name, rows)
		}
	}
}

// An error in forming the group again is the error of the run, and the group is formed
// again before the next run.
func TestErrorsOfRegrouping(t *testing.T) {
	b := batchOf(13, 5, Keep, 20)
	b.Inverses = []float32{1, 1, 1, 1, 1}
	for _, c := range []struct {
		name  string
		local bool
		call  int64 // number of the call that fails: 0 is Grow, 1 is Join
		f     func(d *Driver) error
	}{
		{"Step", false, 0, func(d *Driver) error {
			_, err := d.Step(t.Context(), b)
			return err
		}},
		{"Step", false, 1, func(d *Driver) error {
			_, err := d.Step(t.Context(), b)
			return err
		}},
		{"Predict", false, 1, func(d *Driver) error {
			_, err := d.Predict(t.Context(), b.Rows["x"])
			return err
		}},
		{"Local.Step", true, 0, func(d *Driver) error {
			_, err := weightsync.NewLocalSGD(d.OneByOne(), small(t).State).Step(t.Context(), b, nil)
			return err
		}},
	} {
		wrong := &mistaken{Device: refs(t, 1)[0].Device, at: -1}
		d := opened(t, []Member{{Name: "wrong", Device: wrong}}, Config{Local: c.local})
		d.group.stale = true
		wrong.at = wrong.calls + c.call
		if err := c.f(d); !errors.Is(err, errPlanted) || !d.group.stale {
			t.Errorf("%s, call %d: %v, still to be formed: %v", c.name, c.call, err, d.group.stale)
		}
		if err := c.f(d); err != nil || d.group.stale {
			t.Errorf("%s, once more: %v, still to be formed: %v", c.name, err, d.group.stale)
		}
	}
}
