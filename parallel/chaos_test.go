package parallel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// frail is a device on which every call may be the last: it dies, or hangs until it is
// closed.
type frail struct {
	device.Device
	hall   *hall
	closed chan struct{}
	once   sync.Once
}

// hall opens frail devices and decides when they die or hang.
type hall struct {
	mu     sync.Mutex
	fate   *rand.Rand
	deaths int // number of devices yet to die
	hangs  int // number of devices yet to hang
	calm   int // approximate number of calls between two of these faults
}

func (h *hall) open() (device.Device, error) {
	d, err := ref.Provider{}.Open(context.Background(), device.DefaultID, device.Options{})
	return &frail{Device: d, hall: h, closed: make(chan struct{})}, err
}

func (h *hall) reopen(context.Context, string) (device.Device, error) { return h.open() }

func (h *hall) draw() (dies, hangs bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fate.IntN(h.calm) > 0 {
		return false, false
	}
	switch {
	case h.deaths > 0:
		h.deaths--
		return true, false
	case h.hangs > 0:
		h.hangs--
		return false, true
	}
	return false, false
}

func (f *frail) Close() error {
	f.once.Do(func() { close(f.closed) })
	return f.Device.Close()
}

// survive returns an error when the device dies.
func (f *frail) survive() error {
	select {
	case <-f.closed:
		return device.Errorf("frail", "", device.Lost, "was closed")
	default:
	}
	dies, hangs := f.hall.draw()
	if hangs {
		<-f.closed
	}
	if dies || hangs {
		f.Close()
		return device.Errorf("frail", "", device.Lost, "died")
	}
	return nil
}

func (f *frail) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if err := f.survive(); err != nil {
		return nil, err
	}
	exe, err := f.Device.Load(ctx, p, c)
	return &frailExe{exe, f}, err
}

type frailExe struct {
	device.Executable
	f *frail
}

func (e *frailExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if err := e.f.survive(); err != nil {
		return device.Outcome{}, err
	}
	time.Sleep(time.Millisecond) // time passes only in Sleep here, and the run of a single device is timed
	out, err := e.Executable.Run(ctx, s)
	if err2 := e.f.survive(); err2 != nil { // after the exchanges, before the answer
		return device.Outcome{}, err2
	}
	return out, err
}

func (e *frailExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	if err := e.f.survive(); err != nil {
		return err
	}
	err := e.Executable.Commit(ctx, v, h)
	if err2 := e.f.survive(); err2 != nil { // the commit was made, but the host does not learn of it
		return err2
	}
	return err
}

func (e *frailExe) Grow(ctx context.Context, c device.Capacity) error {
	if err := e.f.survive(); err != nil {
		return err
	}
	return e.Executable.Grow(ctx, c)
}

func (e *frailExe) Write(ctx context.Context, name string, t tensor.Tensor) error {
	if err := e.f.survive(); err != nil {
		return err
	}
	return e.Executable.Write(ctx, name, t)
}

func (e *frailExe) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	return device.WriteEach(ctx, e, names, state)
}

func (e *frailExe) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	if err := e.f.survive(); err != nil {
		return tensor.Tensor{}, err
	}
	return e.Executable.Read(ctx, name)
}

func (f *frail) Join(ctx context.Context, g device.Group) error {
	if err := f.survive(); err != nil {
		return err
	}
	return f.Device.Join(ctx, g)
}

// chaosSteps trains on the frail devices of a hall, with time for some of them to come
// back, and returns the state as text.
func chaosSteps(t *testing.T, h *hall, devices, steps int, template bool) string {
	t.Helper()
	ctx, m := context.Background(), small(t)
	var members []Member
	for i := range devices {
		d, err := h.open()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		members = append(members, Member{Name: fmt.Sprintf("frail:%d", i), Device: d})
	}
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync}), m.State, members,
		Config{Replicas: 5, Batch: 20, Reopen: h.reopen, Template: template, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got := ""
	for i := range steps {
		time.Sleep(firstPause / 2)
		r, err := d.Step(ctx, batchOf(20-i%7, 5, Keep, 20))
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		got += fmt.Sprint(r.Loss)
		if err := d.Commit(ctx, device.Hyper{"lr": 0.05}); err != nil {
			t.Fatalf("commit %d: %v", i, err)
		}
		if i%17 == 16 {
			if _, err := d.Snapshot(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Group().Balance(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	state, err := d.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Graph.State {
		got += fmt.Sprint(state[s.Name].F32())
	}
	return got
}

// TestChaos loses devices in every way, even all at once, without changing a bit.
func TestChaos(t *testing.T) {
	steps, seeds := 60, uint64(4)
	if testing.Short() {
		steps, seeds = 30, 2
	}
	calm := ""
	synctest.Test(t, func(t *testing.T) {
		calm = chaosSteps(t, &hall{fate: rand.New(rand.NewPCG(1, 1)), calm: 1 << 30}, 1, steps, false)
	})
	for seed := range seeds {
		h := &hall{fate: rand.New(rand.NewPCG(seed, 2)), deaths: steps / 5, hangs: 1, calm: 40}
		devices, template := 1+int(seed), seed%2 == 1
		synctest.Test(t, func(t *testing.T) {
			if got := chaosSteps(t, h, devices, steps, template); got != calm {
				t.Errorf("%d devices, seed %d, template %v: other bits than without losses", devices, seed, template)
			}
		})
		if h.deaths > 0 {
			t.Errorf("%d devices, seed %d: %d deaths did not happen", devices, seed, h.deaths)
		}
	}
}

func TestNoDeviceComesBack(t *testing.T) { synctest.Test(t, noDeviceComesBack) }

func noDeviceComesBack(t *testing.T) {
	members := refs(t, 2)
	for i := range members {
		members[i].Device = &mortal{Device: members[i].Device, dies: 2}
	}
	m := small(t)
	none := func(context.Context, string) (device.Device, error) { return nil, errors.New("not today") }
	d, err := Open(context.Background(), program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync}), m.State, members,
		Config{Replicas: 5, Batch: 20, Reopen: none, Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 {
		if _, err = d.Step(context.Background(), batchOf(20, 5, Keep, 20)); err != nil {
			break
		}
		if err = d.Commit(context.Background(), device.Hyper{"lr": 0.1}); err != nil {
			break
		}
	}
	if !errors.Is(err, NoDevices) {
		t.Errorf("err = %v, want NoDevices", err)
	}
}
