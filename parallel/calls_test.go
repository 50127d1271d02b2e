package parallel

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/tensor"
)

// told is a device that records its calls.
type told struct {
	device.Device
	mu    sync.Mutex
	calls []string
}

func (d *told) note(format string, of ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, fmt.Sprintf(format, of...))
}

// text returns the calls since the last text. Equal consecutive calls become one entry.
func (d *told) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for i := 0; i < len(d.calls); {
		n := 1
		for i+n < len(d.calls) && d.calls[i+n] == d.calls[i] {
			n++
		}
		if out = append(out, d.calls[i]); n > 1 {
			out[len(out)-1] += fmt.Sprint(" x", n)
		}
		i += n
	}
	d.calls = nil
	return strings.Join(out, ", ")
}

func (d *told) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	d.note("load %dx%d", c.Rows, c.Replicas)
	exe, err := d.Device.Load(ctx, p, c)
	return &toldExe{exe, d}, err
}

func (d *told) Join(ctx context.Context, g device.Group) error {
	d.note("join %d as %d of %v", g.Generation, g.Rank, g.Replicas)
	return d.Device.Join(ctx, g)
}

func (d *told) Close() error {
	d.note("close")
	return d.Device.Close()
}

type toldExe struct {
	device.Executable
	d *told
}

func (e *toldExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	e.d.note("%s %d %v", s.Function, s.Number, s.Rows)
	return e.Executable.Run(ctx, s)
}

func (e *toldExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	e.d.note("commit %d", v)
	return e.Executable.Commit(ctx, v, h)
}

func (e *toldExe) Grow(ctx context.Context, c device.Capacity) error {
	e.d.note("grow %dx%d", c.Rows, c.Replicas)
	return e.Executable.Grow(ctx, c)
}

func (e *toldExe) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	e.d.note("read")
	return e.Executable.Read(ctx, name)
}

func (e *toldExe) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	e.d.note("write %d", len(names))
	return e.Executable.WriteAll(ctx, names, state)
}

func (e *toldExe) Close() error {
	e.d.note("free")
	return e.Executable.Close()
}

// tellers makes the devices of members record their calls.
func tellers(members []Member) (list []*told) {
	for i := range members {
		list = append(list, &told{Device: members[i].Device})
		members[i].Device = list[i]
	}
	return list
}

// say compares the calls of devices since the last comparison with want.
func say(t *testing.T, when string, devices []*told, want ...string) {
	t.Helper()
	for i, d := range devices {
		if got := d.text(); got != want[i] {
			t.Errorf("%s: device %d was called\n%s, want\n%s", when, i, got, want[i])
		}
	}
}

// learn makes a step and its commit.
func learn(t *testing.T, d *Driver) {
	t.Helper()
	if _, err := steps(d, 1); err != nil {
		t.Fatal(err)
	}
}

// stateOf returns the number of state tensors of the small model, and the number of those that an
// update changes.
func stateOf(t *testing.T) (all, updated int) {
	m := small(t)
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			updated++
		}
	}
	return len(m.Graph.State), updated
}

// Every device gets exactly the necessary calls, in order. Steps are numbered consecutively.
// Commits are numbered from the version of the state that the device received first.
func TestCallsOfAStep(t *testing.T) {
	all, updated := stateOf(t)
	members := refs(t, 2)
	devices := tellers(members)
	d := opened(t, members, Config{})
	say(t, "Open", devices,
		fmt.Sprintf("load 12x3, write %d, join 1 as 0 of [[0 1 2] [3 4]]", all),
		fmt.Sprintf("load 10x2, write %d, join 1 as 1 of [[0 1 2] [3 4]]", all))
	learn(t, d)
	learn(t, d)
	say(t, "two steps", devices, "train 1 [4 4 4], commit 0, train 2 [4 4 4], commit 1",
		"train 1 [4 4], commit 0, train 2 [4 4], commit 1")
	x := batchOf(20, 5, Keep, 20).Rows["x"]
	if _, err := d.Predict(t.Context(), x.Rows(0, 7)); err != nil {
		t.Fatal(err)
	}
	say(t, "Predict", devices, "predict 3 [4]", "predict 3 [3]")
	if _, err := d.State(t.Context()); err != nil {
		t.Fatal(err)
	}
	say(t, "State", devices, fmt.Sprint("read x", all), "")
	bias := map[string]tensor.Tensor{"bn1.bias": small(t).State["bn1.bias"]}
	if err := d.Write(t.Context(), bias); err != nil {
		t.Fatal(err)
	}
	say(t, "Write", devices, "write 1", "write 1")
	for i, m := range d.group.members { // the second device is much slower: see Balance
		m.pace.rows, m.pace.busy = 24-8*i, time.Duration(1+19*i)*time.Second
	}
	if moved, err := d.Group().Balance(t.Context()); err != nil || !moved {
		t.Fatal(moved, err)
	}
	say(t, "Balance", devices, "grow 16x4", "grow 10x1")
	learn(t, d)
	say(t, "a step after it", devices,
		"grow 16x4, join 2 as 0 of [[0 1 2 3] [4]], train 4 [4 4 4 4], commit 2",
		"grow 10x1, join 2 as 1 of [[0 1 2 3] [4]], train 4 [4], commit 2")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	say(t, "Close", devices, "free", "free")

	d = opened(t, members, Config{Template: true})
	say(t, "Open", devices,
		fmt.Sprintf("load 12x3, write %d, join 1 as 0 of [[0 1 2] [3 4]]", all),
		fmt.Sprintf("load 10x2, write %d, join 1 as 1 of [[0 1 2] [3 4]]", all))
	learn(t, d)
	learn(t, d)
	say(t, "steps with a template", devices,
		fmt.Sprintf("train 1 [4 4 4], commit 0, read x%d, train 2 [4 4 4], commit 1, read x%[1]d", updated),
		fmt.Sprintf("train 1 [4 4], write %d, train 2 [4 4], write %[1]d", updated))
}

// A device that has the weights of a step does not get them again when another device is
// lost.
func TestWeightsAreSentOnce(t *testing.T) {
	all, updated := stateOf(t)
	members := refs(t, 2)
	devices := tellers(members)
	dying := &mistaken{Device: refs(t, 1)[0].Device, at: 4, lost: true} // calls 0 to 3: Load, Write, Join, Run
	d := opened(t, append(members, Member{Name: "dying", Device: dying}), Config{Template: true})
	learn(t, d)
	if len(d.group.members) != 2 || d.group.members[1].base != 1 || d.group.members[1].written != 1 {
		t.Errorf("%d members", len(d.group.members))
	}
	say(t, "a step", devices[1:], fmt.Sprintf(
		"load 8x2, write %d, join 1 as 1 of [[0 1] [2 3] [4]], train 1 [4 4], write %d", all, updated))
}

// A lost device is closed, and the other device computes its replicas from that step on. A device
// that comes back gets the state, and commits from the version of that state on.
func TestCallsAfterALoss(t *testing.T) { synctest.Test(t, callsAfterALoss) }

func callsAfterALoss(t *testing.T) {
	all, _ := stateOf(t)
	members := refs(t, 2)
	members[0].Device = &mortal{Device: members[0].Device, dies: 2}
	devices := tellers(members)
	again := tellers(refs(t, 1))[0]
	comes := make(chan struct{})
	var back []RejoinedDevice
	var gone []LostDevice
	d := opened(t, members, Config{
		Reopen: func(context.Context, string) (device.Device, error) {
			<-comes
			return again, nil
		},
		Back: func(e RejoinedDevice) { back = append(back, e) },
		Lost: func(e LostDevice) { gone = append(gone, e) },
	})
	learn(t, d)
	say(t, "Open and a step", devices[:1],
		fmt.Sprintf("load 12x3, write %d, join 1 as 0 of [[0 1 2] [3 4]], train 1 [4 4 4], commit 0", all))
	devices[1].text()
	learn(t, d)
	say(t, "a loss", devices, "train 2 [4 4 4], close",
		"train 2 [4 4], grow 20x5, join 2 as 0 of [[0 1 2 3 4]], train 3 [4 4 4 4 4], commit 1")
	if len(gone) != 1 || gone[0].Device != "ref0" || gone[0].Step != 1 || fmt.Sprint(gone[0].MovedTo) != "[ref1]" {
		t.Errorf("losses %+v", gone)
	}
	close(comes)
	synctest.Wait()
	learn(t, d)
	learn(t, d)
	say(t, "it is back", []*told{again, devices[1]},
		fmt.Sprintf("load 12x3, write %d, grow 12x3, join 3 as 0 of [[0 1 2] [3 4]], train 4 [4 4 4], commit 0, "+
			"train 5 [4 4 4], commit 1", all),
		fmt.Sprintf("read x%d, grow 10x2, join 3 as 1 of [[0 1 2] [3 4]], train 4 [4 4], commit 2, "+
			"train 5 [4 4], commit 3", all))
	if len(back) != 1 || back[0] != (RejoinedDevice{Device: "ref0", Step: 2}) {
		t.Errorf("back: %+v", back)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	say(t, "Close", []*told{again, devices[0], devices[1]}, "free, close", "", "free")
}

// Replicas with separate weights use a device one after the other; a replica without rows
// does not use it.
func TestCallsOfALocalStep(t *testing.T) {
	all, updated := stateOf(t)
	members := refs(t, 2)
	devices := tellers(members)
	m := small(t)
	d, err := Open(t.Context(), program(t, m, spmd.Options{Replicas: 5, BN: bn.Replica}), m.State, members,
		Config{Replicas: 5, Batch: 20, Local: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	say(t, "Open", devices, fmt.Sprintf("load 12x3, write %d", all), fmt.Sprintf("load 10x2, write %d", all))
	l := weightsync.NewLocalSGD(d.OneByOne(), m.State)
	b := batchOf(13, 5, Pad, 20) // rows of the replicas: 4, 4, 4, 1, 0
	b.Inverses = []float32{0.25, 0.25, 0.25, 1, 1}
	for range 2 {
		if _, err := l.Step(t.Context(), b, device.Hyper{"lr": 0.1}); err != nil {
			t.Fatal(err)
		}
		l.Commit()
	}
	one := func(step, replica, rows int) string {
		return fmt.Sprintf("write %d, train %d [%d], commit %d, read x%[1]d", updated, step, rows, replica)
	}
	say(t, "two steps", devices, strings.Join([]string{one(1, 0, 4), one(1, 1, 4), one(1, 2, 4), one(2, 3, 4),
		one(2, 4, 4), one(2, 5, 4)}, ", "), one(1, 0, 1)+", "+one(2, 1, 1))
	if _, err := l.DryRun(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	look := fmt.Sprintf("write %d, train 3 [4]", updated)
	say(t, "a dry run", devices, look+", "+look+", "+look, fmt.Sprintf("write %d, train 3 [1]", updated))
	if l.ReplicaStates() == nil {
		t.Error("all have the same after two steps")
	}
}
