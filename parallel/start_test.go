package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// TestLostAtTheStart: of three devices one dies when the program is loaded.
func TestLostAtTheStart(t *testing.T) {
	want, err := trainSteps(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	var opened atomic.Int64
	for name, open := range map[string]func(context.Context, string) (device.Device, error){
		"for good":        nil,
		"cannot be had":   func(context.Context, string) (device.Device, error) { return nil, device.Unavailable },
		"again and again": mayflies(t, -1, &opened),
	} {
		synctest.Test(t, func(t *testing.T) {
			members, lost := refs(t, 3), 0
			members[1].Device = &mayfly{members[1].Device, -1, device.Lost}
			got, err := trainSteps(t, members, Config{Reopen: open, Lost: func(e LossEvent) {
				if lost++; e.Device != "ref1" {
					t.Errorf("%s: %s was lost", name, e.Device)
				}
			}})
			if err != nil || got != want {
				t.Errorf("%s: %v, the same as on one device: %v", name, err, got == want)
			}
			if lost == 0 || lost > maxLastLosses+1 {
				t.Errorf("%s: %d losses", name, lost)
			}
		})
	}
	if opened.Load() < maxLastLosses/2 {
		t.Errorf("a device that dies again and again was opened %d times", opened.Load())
	}
}

// openOnly returns why a driver cannot be opened.
func openOnly(t *testing.T, members []Member, c Config) error {
	t.Helper()
	m := small(t)
	c.Replicas, c.Batch = 5, 20
	d, err := Open(context.Background(), program(t, m, Options{Replicas: 5, BN: bn.Sync}), m.State, members, c)
	if err == nil {
		d.Close()
	}
	return err
}

// TestTheOnlyDeviceDiesAtEveryLoad: the run gives up.
func TestTheOnlyDeviceDiesAtEveryLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := mayflies(t, -1, &atomic.Int64{})
		first, _ := open(context.Background(), "")
		err := openOnly(t, []Member{{"mayfly", first}}, Config{Reopen: open})
		if !errors.Is(err, NoDevices) || !errors.Is(err, device.Lost) {
			t.Errorf("err = %v, want NoDevices because of a lost one", err)
		}
	})
}

// TestNoMemoryAtTheStart: a device that never had the memory was not lost.
func TestNoMemoryAtTheStart(t *testing.T) {
	members := refs(t, 2)
	members[1].Device = &mayfly{members[1].Device, -1, device.OutOfMemory}
	if err := openOnly(t, members, Config{}); !errors.Is(err, device.OutOfMemory) {
		t.Errorf("err = %v, want out of memory", err)
	}
}

// TestLostBeforeItRefused: what the devices compute does not depend on who
// died before it could say what it cannot do.
func TestLostBeforeItRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := func(context.Context, string) (device.Device, error) {
			return &picky{refs(t, 1)[0].Device, graph.ChannelSum}, nil
		}
		members := refs(t, 2)
		members[1].Device = &mayfly{members[1].Device, -1, device.Lost}
		d := opened(t, members, Config{Reopen: open})
		defer d.Close()
		for i := range d.program.Functions {
			for _, n := range d.program.Functions[i].Nodes {
				if n.Op == graph.ChannelSum {
					t.Fatalf("%v is in the program of a device that refuses it", n.Op)
				}
			}
		}
		if len(d.Group().Devices()) != 2 {
			t.Errorf("devices %v, want two", d.Group().Devices())
		}
	})
}
