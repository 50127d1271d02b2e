package parallel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// paced is a device that reports a given time per row.
type paced struct {
	device.Device
	perRow time.Duration
	full   bool // has no memory for more replicas
}

func (p *paced) Load(ctx context.Context, prog *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := p.Device.Load(ctx, prog, c)
	return &pacedExe{exe, p}, err
}

type pacedExe struct {
	device.Executable
	p *paced
}

func (e *pacedExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	out, err := e.Executable.Run(ctx, s)
	rows := 0
	for _, n := range s.Rows {
		rows += n
	}
	out.Blocked = time.Second
	out.Took = out.Blocked + time.Duration(rows)*e.p.perRow
	return out, err
}

func (e *pacedExe) Grow(ctx context.Context, c device.Capacity) error {
	if e.p.full {
		return device.Errorf("paced", "Grow", device.OutOfMemory, "want more")
	}
	return e.Executable.Grow(ctx, c)
}

func pacedRefs(t *testing.T, perRow ...time.Duration) []Member {
	members := refs(t, len(perRow))
	for i, d := range perRow {
		members[i].Device = &paced{Device: members[i].Device, perRow: d}
	}
	return members
}

// balanced trains some steps, balancing after every second one, and returns losses,
// moments and state as text, and the placement at the end.
func balanced(t *testing.T, members []Member, c Config) (string, []int) {
	t.Helper()
	ctx, m := context.Background(), small(t)
	c.Replicas, c.Batch = 8, 24
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 8, BN: bn.Sync}), m.State, members, c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got := ""
	for i := range 6 {
		r, err := d.Step(ctx, batchOf(24, 8, Keep, 24))
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprint(r.Loss, r.Moments[0].F64())
		if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
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
	return got, d.Group().Placement()
}

func TestFasterDevicesGetMoreReplicas(t *testing.T) {
	want, _ := balanced(t, refs(t, 1), Config{})
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		members []Member
		config  Config
		place   []int
	}{
		{"alike", pacedRefs(t, ms, ms), Config{}, []int{4, 4}},
		{"a little faster", pacedRefs(t, 10*ms, 11*ms), Config{}, []int{4, 4}},
		{"three times", pacedRefs(t, ms, 3*ms), Config{}, []int{6, 2}},
		{"three devices", pacedRefs(t, 4*ms, ms, 2*ms), Config{}, []int{1, 5, 2}},
		{"none", pacedRefs(t, ms, 1000*ms), Config{}, []int{8, 0}},
		{"none of three", pacedRefs(t, ms, 1000*ms, ms), Config{}, []int{4, 0, 4}},
		{"pinned", pacedRefs(t, ms, 3*ms), Config{Placement: []int{3, 5}}, []int{3, 5}},
		{"pinned to one", pacedRefs(t, ms, ms), Config{Placement: []int{0, 8}}, []int{0, 8}},
	} {
		got, place := balanced(t, c.members, c.config)
		if !slices.Equal(place, c.place) {
			t.Errorf("%s: placement %v, want %v", c.name, place, c.place)
		}
		if got != want {
			t.Errorf("%s: other bits than on one device", c.name)
		}
	}
}

// The first measurement may include the time in which a device compiles, so a slow device
// keeps a replica and is measured once more.
func TestSlowAtFirstKeepsAReplica(t *testing.T) {
	ctx, m := t.Context(), small(t)
	members := pacedRefs(t, time.Millisecond, 1000*time.Millisecond)
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 8, BN: bn.Sync}), m.State, members,
		Config{Replicas: 8, Batch: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, want := range [][]int{{7, 1}, {4, 4}} {
		for range 2 {
			if _, err := d.Step(ctx, batchOf(24, 8, Keep, 24)); err != nil {
				t.Fatal(err)
			}
			if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Group().Balance(ctx); err != nil {
			t.Fatal(err)
		}
		if got := d.Group().Placement(); !slices.Equal(got, want) {
			t.Errorf("placement %v, want %v", got, want)
		}
		members[1].Device.(*paced).perRow = time.Millisecond
	}
}

func TestDeviceWithoutMemoryKeepsItsReplicas(t *testing.T) {
	members := pacedRefs(t, time.Millisecond, 3*time.Millisecond)
	members[0].Device.(*paced).full = true
	if _, place := balanced(t, members, Config{}); !slices.Equal(place, []int{4, 4}) {
		t.Errorf("placement %v, want 4 and 4", place)
	}
}

func TestPinnedPlacementGivesWayToLosses(t *testing.T) {
	want, _ := balanced(t, refs(t, 1), Config{})
	members := refs(t, 3)
	members[1].Device = &mortal{Device: members[1].Device, dies: 3}
	got, place := balanced(t, members, Config{Placement: []int{1, 6, 1}})
	if len(place) != 2 || place[0]+place[1] != 8 {
		t.Errorf("placement %v after a loss, want 8 replicas on two devices", place)
	}
	if got != want {
		t.Error("other bits than on one device")
	}
}

func TestPlacementsThatDoNotFit(t *testing.T) {
	m := small(t)
	p := program(t, m, spmd.Options{Replicas: 8, BN: bn.Sync})
	for _, c := range []struct {
		placement []int
		want      string
	}{
		{[]int{3, 4}, "7 of 8"}, {[]int{4, 5}, "9 of 8"},
		{[]int{8}, "2: [ref0 ref1]"}, {[]int{9, -1}, "-1 replicas"},
	} {
		_, err := Open(context.Background(), p, m.State, refs(t, 2),
			Config{Replicas: 8, Batch: 24, Placement: c.placement})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("placement %v: %v, want an error that says %q", c.placement, err, c.want)
		}
	}
}
