package parallel

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// If one device updates for all, the bits are the same as with one device, whichever device is lost
// and at whatever time.
func TestOneDeviceUpdatesForAll(t *testing.T) {
	want, err := trainSteps(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for lost := range 3 {
		for _, inCommit := range []bool{false, true} {
			for dies := 1; dies <= 4; dies++ {
				members := refs(t, 3)
				members[lost].Device = &mortal{Device: members[lost].Device, dies: dies, inCommit: inCommit}
				got, err := trainSteps(t, members, Config{Template: true})
				if err != nil {
					t.Fatalf("device %d dies at run %d, in commit %v: %v", lost, dies, inCommit, err)
				}
				if got != want {
					t.Errorf("device %d dies at run %d, in commit %v: other bits", lost, dies, inCommit)
				}
			}
		}
	}
}

// clumsy is a device with slightly wrong updates that reports them as inexact.
type clumsy struct{ device.Device }

func (c *clumsy) Info() device.Info {
	info := c.Device.Info()
	info.Features = []string{device.Deterministic}
	return info
}

func (c *clumsy) Load(ctx context.Context, p *graph.Program, capacity device.Capacity) (
	device.Executable, error) {
	exe, err := c.Device.Load(ctx, p, capacity)
	return &clumsyExe{exe}, err
}

type clumsyExe struct{ device.Executable }

func (e *clumsyExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	return e.Executable.Commit(ctx, v, device.Hyper{"lr": h["lr"] * 1.001})
}

// A device without exact updates gets the weights of a device with exact updates, so that
// it never drifts apart. When all others are lost it continues alone.
func TestWeightsAreSentToWhoCannotUpdateExactly(t *testing.T) {
	want, err := trainSteps(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for at := range 3 {
		members := refs(t, 3)
		members[at].Device = &clumsy{members[at].Device}
		if got, err := trainSteps(t, members, Config{}); err != nil || got != want {
			t.Errorf("device %d has other updates: other bits than without it, or %v", at, err)
		}
	}
	for lost := range 2 {
		for _, inCommit := range []bool{false, true} {
			members := refs(t, 3)
			members[2].Device = &clumsy{members[2].Device}
			members[lost].Device = &mortal{Device: members[lost].Device, dies: 2, inCommit: inCommit}
			if got, err := trainSteps(t, members, Config{}); err != nil || got != want {
				t.Errorf("device %d is lost beside one with other updates: other bits, or %v", lost, err)
			}
		}
	}
	members := refs(t, 2)
	members[0].Device = &mortal{Device: members[0].Device, dies: 3, inCommit: true}
	members[1].Device = &clumsy{members[1].Device}
	if got, err := trainSteps(t, members, Config{}); err != nil || got == want {
		t.Errorf("alone, its updates are its own: %v", err)
	}
}
