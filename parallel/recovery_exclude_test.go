package parallel

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// Hangs count more than deaths, and only recent runs count.
func TestLossesOfADeviceAreTallied(t *testing.T) {
	losses := lossHistory{}
	for _, c := range []struct {
		run           uint64
		hung          bool
		times, counts int
	}{{1, false, 1, 1}, {8, true, 2, 4}, {50, true, 3, 7}, {51, false, 3, 7}, {58, true, 3, 7},
		{200, true, 1, 3}} {
		if times, counts := losses.add("a", c.run, c.hung); times != c.times || counts != c.counts {
			t.Errorf("run %d: %d losses that count %d, want %d and %d", c.run, times, counts, c.times, c.counts)
		}
	}
	if times, _ := losses.add("b", 200, false); times != 1 {
		t.Errorf("%d losses of another device", times)
	}
}

// A device that dies again and again is opened after growing pauses and finally not at all,
// and the run reports that. The weights are the same as in a run without it.
func TestDeviceThatDiesAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, m := t.Context(), small(t)
		var events []LostDevice
		opened := 0
		c := Config{Replicas: 5, Batch: 20, Lost: func(e LostDevice) { events = append(events, e) },
			Reopen: func(context.Context, string) (device.Device, error) {
				opened++
				return &mortal{Device: refs(t, 1)[0].Device, dies: 2}, nil
			}}
		mine := &mortal{Device: refs(t, 1)[0].Device, dies: 2}
		members := append(refs(t, 1), Member{Name: "mortal", Device: mine})
		d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync}), m.State, members, c)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		var lostAt []time.Time
		for range 40 {
			if _, err := d.Step(ctx, batchOf(20, 5, Keep, 20)); err != nil {
				t.Fatal(err)
			}
			if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
				t.Fatal(err)
			}
			for len(lostAt) < len(events) {
				lostAt = append(lostAt, time.Now())
			}
			time.Sleep(lastPause + time.Second)
		}
		last := len(events) - 1
		if len(events) != mostTally || events[last].Excluded == "" || opened != mostTally-1 {
			t.Fatalf("lost %d times, opened %d times again, then: %+v", len(events), opened, events[last])
		}
		excluded := func(e LostDevice) bool { return e.Excluded != "" }
		left := slices.Equal(d.Group().Devices(), []string{"ref0"})
		if n := slices.IndexFunc(events, excluded); n != last || !left {
			t.Errorf("excluded at loss %d of %d; devices %v", n+1, len(events), d.Group().Devices())
		}
	})
}
