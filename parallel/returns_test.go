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

// mayfly is a device that is lost, or runs out of memory, after a number of runs.
type mayfly struct {
	device.Device
	runs int
	kind device.Kind
}

func (f *mayfly) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if f.runs < 0 {
		return nil, device.Errorf("mayfly", "Load", f.kind, "no life is left")
	}
	exe, err := f.Device.Load(ctx, p, c)
	return &mayflyExe{exe, f}, err
}

type mayflyExe struct {
	device.Executable
	f *mayfly
}

func (e *mayflyExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if e.f.runs--; e.f.runs < 0 {
		return device.Outcome{}, device.Errorf("mayfly", "Run", e.f.kind, "no life is left")
	}
	return e.Executable.Run(ctx, s)
}

// mayflies opens devices that are lost after that number of runs, and counts them.
func mayflies(t *testing.T, runs int, opened *atomic.Int64) func(context.Context, string) (
	device.Device, error) {
	t.Helper()
	return func(context.Context, string) (device.Device, error) {
		opened.Add(1)
		return &mayfly{refs(t, 1)[0].Device, runs, device.Lost}, nil
	}
}

// steps makes n steps and returns the last loss.
func steps(d *Driver, n int) (loss float64, err error) {
	ctx := context.Background()
	for range n {
		r, err := d.Step(ctx, batchOf(20, 5, Keep, 20))
		if err != nil {
			return 0, err
		}
		if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
			return 0, err
		}
		loss = r.Loss
	}
	return loss, nil
}

func opened(t *testing.T, members []Member, c Config) *Driver {
	t.Helper()
	m := small(t)
	c.Replicas, c.Batch = 5, 20
	p := program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync})
	d, err := Open(context.Background(), p, m.State, members, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestADeviceThatNeverLivesThroughAReplayGetsOn: the caller never renews the snapshot, and
// each device lives much shorter than the run.
func TestADeviceThatNeverLivesThroughAReplayGetsOn(t *testing.T) {
	synctest.Test(t, neverLivesThroughAReplay)
}

func neverLivesThroughAReplay(t *testing.T) {
	const all = 25
	want, err := steps(opened(t, refs(t, 1), Config{}), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, life := range []int{2, 3, 7} {
		var n atomic.Int64
		open := mayflies(t, life, &n)
		first, _ := open(context.Background(), "")
		d := opened(t, []Member{{Name: "mayfly", Device: first}}, Config{Reopen: open})
		got, err := steps(d, all)
		if err != nil {
			t.Fatalf("a life of %d runs: %v", life, err)
		}
		if got != want {
			t.Errorf("a life of %d runs: loss %v, undisturbed %v", life, got, want)
		}
		if n.Load() > 2*all {
			t.Errorf("a life of %d runs: %d devices for %d steps", life, n.Load(), all)
		}
	}
}

// allergic is a device that dies from batches of a certain size.
type allergic struct {
	device.Device
	rows int
}

func (a *allergic) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := a.Device.Load(ctx, p, c)
	return &allergicExe{exe, a.rows}, err
}

type allergicExe struct {
	device.Executable
	rows int
}

func (e *allergicExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if s.Function == graph.Train && s.Inputs[0].Shape[0] == e.rows {
		return device.Outcome{}, device.Errorf("allergic", "Run", device.OutOfMemory, "%d rows", e.rows)
	}
	return e.Executable.Run(ctx, s)
}

// TestAStepThatEndsEveryDevice: the run gives up and returns the reason.
func TestAStepThatEndsEveryDevice(t *testing.T) { synctest.Test(t, aStepThatEndsEveryDevice) }

func aStepThatEndsEveryDevice(t *testing.T) {
	count, began := 0, time.Now()
	open := func(context.Context, string) (device.Device, error) {
		count++
		return &allergic{refs(t, 1)[0].Device, 13}, nil
	}
	first, _ := open(context.Background(), "")
	d := opened(t, []Member{{Name: "allergic", Device: first}}, Config{Reopen: open, Timeout: time.Hour})
	if _, err := steps(d, 3); err != nil {
		t.Fatal(err)
	}
	_, err := d.Step(context.Background(), batchOf(13, 5, Keep, 20))
	if !errors.Is(err, NoDevices) || !errors.Is(err, device.OutOfMemory) || !strings.Contains(err.Error(),
		"13 rows") || !strings.Contains(err.Error(),
		"3 devices were lost one after the other for want of memory, at step 3") {
		t.Errorf("err = %v, want NoDevices because of 13 rows", err)
	}
	if waited := time.Since(began); count != 3 || waited < time.Hour/2 || waited > time.Hour {
		t.Errorf("opened %d times within %v, want 3 within twice a quarter of the time-out", count, waited)
	}
	if v := d.Version(); v != 3 {
		t.Errorf("version %d, want 3", v)
	}
}

// TestADeviceThatDiesAtEveryStart: opening succeeds, loading does not.
func TestADeviceThatDiesAtEveryStart(t *testing.T) { synctest.Test(t, aDeviceThatDiesAtEveryStart) }

func aDeviceThatDiesAtEveryStart(t *testing.T) {
	open := mayflies(t, -1, &atomic.Int64{})
	first := &mayfly{refs(t, 1)[0].Device, 1, device.Lost}
	began := time.Now()
	_, err := steps(opened(t, []Member{{Name: "mayfly", Device: first}},
		Config{Reopen: open, Timeout: 500 * time.Millisecond}), 3)
	if !errors.Is(err, NoDevices) {
		t.Errorf("err = %v, want NoDevices", err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("gave up after %v", took)
	}
}

// TestOutOfMemoryIsLost: replicas of a device without memory move to the others.
func TestOutOfMemoryIsLost(t *testing.T) {
	want, err := steps(opened(t, refs(t, 1), Config{}), 4)
	if err != nil {
		t.Fatal(err)
	}
	var events []LostDevice
	members := refs(t, 3)
	members[2].Device = &mayfly{members[2].Device, 2, device.OutOfMemory}
	got, err := steps(opened(t, members, Config{Lost: func(e LostDevice) { events = append(events, e) }}), 4)
	if err != nil || got != want {
		t.Errorf("loss %v, %v; on one device %v", got, err, want)
	}
	if len(events) != 1 || events[0].Device != "ref2" || !errors.Is(events[0].Reason, device.OutOfMemory) {
		t.Errorf("events %+v, want one of ref2, out of memory", events)
	}
}
