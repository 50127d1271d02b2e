package parallel

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/step"
)

// closing is a device that counts how often it is closed.
type closing struct {
	device.Device
	closed int
	err    error
}

func (c *closing) Close() error {
	c.closed++
	return c.err
}

// Reopened devices are closed with the run, including a device that never became a member.
// Only the errors of lost devices are ignored.
func TestReopenerCloses(t *testing.T) {
	gone := &closing{err: device.Errorf("a", "", device.Lost, "killed")}
	broken, waits := &closing{err: errPlanted}, &closing{}
	r := newReopener(0, nil, always)
	r.devices = []device.Device{gone, broken}
	r.pending = &member{Member: Member{Device: waits}}
	if err := r.close(); !errors.Is(err, errPlanted) || errors.Is(err, device.Lost) {
		t.Errorf("%v, want the error of the one that is not lost", err)
	}
	if gone.closed != 1 || broken.closed != 1 || waits.closed != 1 {
		t.Errorf("closed %d, %d and %d times", gone.closed, broken.closed, waits.closed)
	}
}

// Only a device that is lost once more is forgotten.
func TestReopenerForgets(t *testing.T) {
	r, one, other := newReopener(0, nil, always), &closing{}, &closing{}
	r.devices = []device.Device{one, other}
	if r.forget(one); len(r.devices) != 1 || r.devices[0] != device.Device(other) {
		t.Errorf("%d devices", len(r.devices))
	}
}

// A device that has finished a step is opened at once. Other devices are opened after a pause, and pauses
// double.
func TestPausesDouble(t *testing.T) {
	const quarter = firstPause
	for _, c := range []struct {
		was  *member
		want []time.Duration
	}{
		{&member{steps: 1}, []time.Duration{0, quarter, 3 * quarter, 7 * quarter}},
		{&member{steps: 1, pause: time.Second}, []time.Duration{0, quarter, 3 * quarter, 7 * quarter}},
		{&member{}, []time.Duration{quarter, 3 * quarter, 7 * quarter, 15 * quarter}},
		{&member{pause: quarter}, []time.Duration{2 * quarter, 6 * quarter, 14 * quarter, 30 * quarter}},
		{&member{pause: lastPause}, []time.Duration{lastPause, 2 * lastPause, 3 * lastPause, 4 * lastPause}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, began, tries := newReopener(0, nil, always), time.Now(), []time.Duration(nil)
			r.schedule(c.was, func(context.Context, string) (device.Device, error) {
				if tries = append(tries, time.Since(began)); len(tries) < len(c.want) {
					return nil, errPlanted
				}
				return &closing{}, nil
			})
			m, err := r.next(t.Context())
			if err != nil || !slices.Equal(tries, c.want) {
				t.Errorf("steps %d, pause %v: tried after %v, want %v (%v)", c.was.steps, c.was.pause, tries, c.want, err)
			}
			if m.steps != 0 || r.hasPending() {
				t.Errorf("%+v", m)
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Losses are counted until the run makes progress; more than maxLastLosses are too many.
func TestLossesAreCounted(t *testing.T) {
	var c lossCount
	for i := range maxLastLosses + 1 {
		if c.tooMany() {
			t.Errorf("%d losses are too many", i)
		}
		c.add(3)
	}
	if !c.tooMany() {
		t.Errorf("%d losses are not too many", c.count)
	}
	if c.add(4); c.count != 1 || c.tooMany() {
		t.Errorf("%d losses since the run got further", c.count)
	}
}

// From the second loss of a last device on, replays renew the snapshot. Too many losses end
// the run.
func TestLossesOfLastDevices(t *testing.T) {
	r := newRecovery(&Group{}, nil, Config{}, &Driver{version: 5}, &step.Ledger{Entries: make([]step.Entry, 8)})
	for n := 1; n <= maxLastLosses; n++ {
		if err := r.countLastLoss(errPlanted); err != nil || (r.ledger.Stride > 0) != (n > 1) {
			t.Errorf("loss %d: %v, renewed after %d steps", n, err, r.ledger.Stride)
		}
	}
	err := r.countLastLoss(errPlanted)
	if !errors.Is(err, NoDevices) || !errors.Is(err, errPlanted) || !strings.Contains(err.Error(),
		"11 devices were lost one after the other and none has come beyond step 5") {
		t.Errorf("%v", err)
	}
}

// Replays renew the snapshot after half of the steps, and the next time after half of that.
func TestReplaysRenewOften(t *testing.T) {
	l := &step.Ledger{Entries: make([]step.Entry, 9)}
	for _, want := range []int{4, 2, 1, 1} {
		if l.RenewOften(); l.Stride != want {
			t.Errorf("after %d steps, want %d", l.Stride, want)
		}
	}
	l = &step.Ledger{Entries: make([]step.Entry, 6), Stride: 9}
	if l.RenewOften(); l.Stride != 3 {
		t.Errorf("of 6 steps after %d", l.Stride)
	}
	if l.Begin(2, nil); l.Stride != 3 {
		t.Errorf("a new snapshot: after %d", l.Stride)
	}
	if r := newRecovery(&Group{}, nil, Config{}, &Driver{version: 5}, l); r.reached() != 7 {
		t.Errorf("reached %d", r.reached())
	}
}

func always() bool { return true }
