package parallel

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// TestLostAtTheStart: one of three devices dies when the program is loaded.
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
		for _, patience := range []time.Duration{0, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				members, lost, began := refs(t, 3), 0, time.Now()
				members[1].Device = &mayfly{members[1].Device, -1, device.Lost}
				got, err := trainSteps(t, members, Config{Reopen: open, Timeout: patience, Lost: func(e LostDevice) {
					if lost++; e.Device != "ref1" {
						t.Errorf("%s: %s was lost", name, e.Device)
					}
				}})
				if err != nil || got != want {
					t.Errorf("%s: %v, the same as on one device: %v", name, err, got == want)
				}
				least := 1
				if name == "again and again" && patience > 0 {
					least = maxLastLosses + 1
				}
				if lost < least || lost > maxLastLosses+1 {
					t.Errorf("%s: %d losses", name, lost)
				}
				if open == nil && time.Since(began) > 0 {
					t.Errorf("%s: it was waited for for %v", name, time.Since(began))
				}
			})
		}
	}
	if opened.Load() < maxLastLosses/2 {
		t.Errorf("a device that dies again and again was opened %d times", opened.Load())
	}
}

// openOnly opens a driver and returns only the error.
func openOnly(t *testing.T, members []Member, c Config) error {
	t.Helper()
	m := small(t)
	c.Replicas, c.Batch = 5, 20
	p := program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync})
	d, err := Open(context.Background(), p, m.State, members, c)
	if err == nil {
		d.Close()
	}
	return err
}

// TestTheOnlyDeviceDiesAtEveryLoad: the run gives up.
func TestTheOnlyDeviceDiesAtEveryLoad(t *testing.T) {
	for patience, want := range map[time.Duration]string{
		5 * time.Second: "none came back within 5s", // the pause before an opening is 4 s, then 8 s
		time.Hour:       "12 devices were lost one after the other",
	} {
		synctest.Test(t, func(t *testing.T) {
			open := mayflies(t, -1, &atomic.Int64{})
			first, _ := open(context.Background(), "")
			err := openOnly(t, []Member{{Name: "mayfly", Device: first}}, Config{Reopen: open, Timeout: patience})
			if !errors.Is(err, NoDevices) || !errors.Is(err, device.Lost) || !strings.Contains(err.Error(), want) {
				t.Errorf("err = %v, want NoDevices because of a lost one: %s", err, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		none := func(context.Context, string) (device.Device, error) { return nil, device.Unavailable }
		err := openOnly(t, []Member{{Name: "mayfly", Device: &mayfly{refs(t, 1)[0].Device, -1, device.Lost}}}, Config{Reopen: none})
		if !errors.Is(err, NoDevices) || !strings.Contains(err.Error(), "none came back within 30s") {
			t.Errorf("err = %v, want that none came back within the time-out of a run that names none", err)
		}
	})
	if err := openOnly(t, []Member{{Name: "mayfly", Device: &mayfly{refs(t, 1)[0].Device, -1, device.Lost}}},
		Config{}); !errors.Is(err, NoDevices) || !errors.Is(err, device.Lost) {
		t.Errorf("err = %v, want NoDevices because of a lost one", err)
	}
}

// TestOpenedAgainAtTheStart: the driver closes a reopened device, and its loss is forgotten
// once the group is formed.
func TestOpenedAgainAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices := tellers(refs(t, 1))
		var back []RejoinedDevice
		d := opened(t, []Member{{Name: "mayfly", Device: &mayfly{refs(t, 1)[0].Device, -1, device.Lost}}}, Config{
			Reopen: func(context.Context, string) (device.Device, error) { return devices[0], nil },
			Back:   func(e RejoinedDevice) { back = append(back, e) }})
		if d.recovery.losses.count != 0 || len(back) != 1 || back[0] != (RejoinedDevice{Device: "mayfly"}) {
			t.Errorf("%d losses, back %+v", d.recovery.losses.count, back)
		}
		devices[0].text()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		say(t, "Close", devices, "free, close")
	})
}

// unfreeable is a device with executables that cannot be freed.
type unfreeable struct{ device.Device }

func (u unfreeable) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	exe, err := u.Device.Load(ctx, p, c)
	return unfreeableExe{exe}, err
}

type unfreeableExe struct{ device.Executable }

func (unfreeableExe) Close() error { return errPlanted }

// TestErrorsOfFreeing: a device frees a program that other devices refuse. An error of freeing ends
// the run, and so does an error when the run is closed.
func TestErrorsOfFreeing(t *testing.T) {
	members := refs(t, 2)
	members[0].Device = unfreeable{members[0].Device}
	if err := opened(t, members, Config{}).Close(); !errors.Is(err, errPlanted) {
		t.Errorf("Close: %v", err)
	}
	members[1].Device = &picky{members[1].Device, graph.ChannelSum}
	if err := openOnly(t, members, Config{}); !errors.Is(err, errPlanted) {
		t.Errorf("Open: %v", err)
	}
}

// TestNoMemoryAtTheStart: a device that lacks memory already when it loads the program does not count
// as lost.
func TestNoMemoryAtTheStart(t *testing.T) {
	members := refs(t, 2)
	members[1].Device = &mayfly{members[1].Device, -1, device.OutOfMemory}
	if err := openOnly(t, members, Config{}); !errors.Is(err, device.OutOfMemory) {
		t.Errorf("err = %v, want out of memory", err)
	}
}

// TestLostBeforeItRefused: the program does not depend on a device that died before it
// could refuse an operation.
func TestLostBeforeItRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := func(context.Context, string) (device.Device, error) {
			return &picky{refs(t, 1)[0].Device, graph.ChannelSum}, nil
		}
		members := refs(t, 2)
		members[1].Device = &mayfly{members[1].Device, -1, device.Lost}
		d := opened(t, members, Config{Reopen: open})
		defer d.Close()
		for i := range d.program.current.Functions {
			for _, n := range d.program.current.Functions[i].Nodes {
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
