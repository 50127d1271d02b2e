package parallel

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// predicting opens a driver that predicts with the small model.
func predicting(t *testing.T, members []Member, c Config) *Driver {
	t.Helper()
	m := small(t)
	f, err := spmd.PredictFunction(m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	c.Replicas, c.Batch = len(members), 8
	d, err := Open(t.Context(), &graph.Program{Name: "small", State: m.Graph.State, Functions: []*graph.Function{f}},
		m.State, members, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Devices that die again and again while they predict come back, participate and do not
// change a bit.
func TestPredictWithDevicesThatReturn(t *testing.T) { synctest.Test(t, predictWithDevicesThatReturn) }

func predictWithDevicesThatReturn(t *testing.T) {
	x := batchOf(20, 5, Keep, 20).Rows["x"]
	want, err := predicting(t, refs(t, 1), Config{}).Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, devices := range []int{1, 2} {
		var opened, back atomic.Int64
		members := refs(t, devices)
		members[0].Device = &mayfly{members[0].Device, 4, device.Lost}
		d := predicting(t, members, Config{Reopen: mayflies(t, 4, &opened),
			Back: func(RejoinedDevice) { back.Add(1) }})
		for range 40 {
			time.Sleep(firstPause)
			got, err := d.Predict(t.Context(), x)
			if err != nil || !bytes.Equal(got[0].Bytes, want[0].Bytes) {
				t.Fatalf("%d devices: other bits, %v", devices, err)
			}
		}
		if back.Load() < 5 {
			t.Errorf("%d devices: %d came back", devices, back.Load())
		}
	}
}

// noting is a device that records which runs are the last.
type noting struct {
	device.Device
	last []bool
}

func (d *noting) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.Device.Load(ctx, p, c)
	return &notingExe{exe, d}, err
}

type notingExe struct {
	device.Executable
	d *noting
}

func (e *notingExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	e.d.last = append(e.d.last, s.Last)
	return e.Executable.Run(ctx, s)
}

// Only the run that reaches the number of samples is the last. If the number is unknown,
// every run may be followed by another.
func TestPredictSaysWhichRunIsLast(t *testing.T) {
	x := batchOf(20, 5, Keep, 20).Rows["x"]
	for _, c := range []struct {
		samples int
		want    []bool
	}{
		{20, []bool{false, false, false, true}}, // the runs end at rows 8, 12, 19 and 20
		{12, []bool{false, true, false, false}},
		{0, make([]bool, 4)},
	} {
		members := refs(t, 1)
		d := &noting{Device: members[0].Device}
		members[0].Device = d
		p := predicting(t, members, Config{Samples: c.samples})
		for _, dueSum := range [][2]int{{0, 12}, {12, 19}, {19, 20}} {
			if _, err := p.Predict(t.Context(), x.Rows(dueSum[0], dueSum[1])); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(d.last, c.want) {
			t.Errorf("%d samples: last runs %v, want %v", c.samples, d.last, c.want)
		}
	}
}

// A driver that has lost its last device returns that error for every call.
func TestPredictWithoutDevices(t *testing.T) { synctest.Test(t, predictWithoutDevices) }

func predictWithoutDevices(t *testing.T) {
	members := refs(t, 1)
	members[0].Device = &mayfly{members[0].Device, 0, device.Lost}
	never := func(context.Context, string) (device.Device, error) { return nil, errors.New("never") }
	d := predicting(t, members, Config{Reopen: never, Timeout: 50 * time.Millisecond})
	for range 2 {
		if _, err := d.Predict(t.Context(), batchOf(3, 1, Keep, 3).Rows["x"]); !errors.Is(err, NoDevices) {
			t.Errorf("%v, want NoDevices", err)
		}
	}
}
