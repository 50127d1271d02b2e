package parallel

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// aheadDevice accepts a run while other runs are in progress, and dies after a number of runs.
type aheadDevice struct {
	device.Device
	mu    *sync.Mutex  // held by the run in progress
	calls atomic.Int32 // runs in progress
	most  *atomic.Int32
	left  atomic.Int32 // runs until the device dies
}

func ahead(d device.Device, left int, most *atomic.Int32) *aheadDevice {
	a := &aheadDevice{Device: d, mu: &sync.Mutex{}, most: most}
	a.left.Store(int32(left))
	return a
}

func (d *aheadDevice) Info() device.Info {
	i := d.Device.Info()
	i.Features = append(slices.Clone(i.Features), device.Ahead)
	return i
}

func (d *aheadDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return &aheadExecutable{x, d}, err
}

type aheadExecutable struct {
	device.Executable
	d *aheadDevice
}

func (x *aheadExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	n := x.d.calls.Add(1)
	defer x.d.calls.Add(-1)
	for old := x.d.most.Load(); n > old && !x.d.most.CompareAndSwap(old, n); old = x.d.most.Load() {
	}
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if x.d.left.Add(-1) < 0 {
		return device.Outcome{}, device.Errorf("mayfly", "Run", device.Lost, "no life is left")
	}
	return x.Executable.Run(ctx, s)
}

// Two goroutines predict at once. The devices are lost while both predictions run, and come back.
// Every prediction has the same bits as with sequential calls, and each loss is reported once.
func TestPredictionsAtOnce(t *testing.T) {
	x := batchOf(23, 5, Keep, 23).Rows["x"]
	want, err := predicting(t, refs(t, 1), Config{}).Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, devices := range []int{1, 2} {
		var most atomic.Int32
		var died, opened, back atomic.Int64
		members := refs(t, devices)
		for i := range members {
			members[i].Device = ahead(members[i].Device, 7+4*i, &most)
		}
		again := func(context.Context, string) (device.Device, error) {
			opened.Add(1)
			return ahead(refs(t, 1)[0].Device, 7, &most), nil
		}
		d := predicting(t, members, Config{Reopen: again, Lost: func(LostDevice) { died.Add(1) },
			Back: func(RejoinedDevice) { back.Add(1) }})
		if !d.Ahead() {
			t.Error("its devices take runs ahead")
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				for range 60 {
					got, err := d.Predict(t.Context(), x)
					if err != nil || !bytes.Equal(got[0].Bytes, want[0].Bytes) {
						t.Errorf("%d devices: other bits, %v", devices, err)
						return
					}
				}
			})
		}
		all.Wait()
		if most.Load() > 2 {
			t.Errorf("%d devices: %d calls were under way, at most 2 can be", devices, most.Load())
		}
		if died.Load() < 5 || opened.Load() > died.Load() || back.Load() > opened.Load() {
			t.Errorf("%d devices: %d losses, %d opened again, %d back", devices, died.Load(), opened.Load(),
				back.Load())
		}
	}
}

// If one device does not accept runs ahead, one prediction waits for the other.
func TestPredictionsOneAfterAnother(t *testing.T) {
	x := batchOf(8, 5, Keep, 8).Rows["x"]
	var most atomic.Int32
	members := refs(t, 2)
	members[0].Device = ahead(members[0].Device, 1000, &most)
	d := predicting(t, members, Config{})
	if d.Ahead() {
		t.Error("one of its devices does not take runs ahead")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				if _, err := d.Predict(t.Context(), x); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d calls were under way at most, want 1", most.Load())
	}
}
