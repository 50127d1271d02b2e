package parallel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// mortal is a device that dies in run number dies or, with inCommit, in the commit after this run.
type mortal struct {
	device.Device
	dies     int
	inCommit bool
	runs     int
}

func (m *mortal) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := m.Device.Load(ctx, p, c)
	return &mortalExe{exe, m}, err
}

type mortalExe struct {
	device.Executable
	m *mortal
}

func (e *mortalExe) gone() error { return device.Errorf("mortal", "Run", device.Lost, "killed") }

func (e *mortalExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	e.m.runs++
	if e.m.runs >= e.m.dies && !e.m.inCommit {
		return device.Outcome{}, e.gone()
	}
	return e.Executable.Run(ctx, s)
}

func (e *mortalExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	if e.m.runs >= e.m.dies && e.m.inCommit {
		return e.gone()
	}
	return e.Executable.Commit(ctx, v, h)
}

// trainSteps runs four steps and returns losses and final state as text.
func trainSteps(t *testing.T, members []Member, c Config) (string, error) {
	t.Helper()
	ctx, m := context.Background(), small(t)
	c.Replicas, c.Batch = 5, 20
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: bn.Sync}), m.State, members, c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got := ""
	for range 4 {
		r, err := d.Step(ctx, batchOf(20, 5, Keep, 20))
		if err != nil {
			return got, err
		}
		got += fmt.Sprint(r.Loss, r.Moments[0].F64())
		if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
			return got, err
		}
	}
	state, err := d.State(ctx)
	for _, s := range m.Graph.State {
		got += fmt.Sprint(state[s.Name].F32())
	}
	return got, err
}

func TestLostDeviceChangesNothing(t *testing.T) {
	want, err := trainSteps(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, inCommit := range []bool{false, true} {
		for dies := 1; dies <= 4; dies++ {
			members, events := refs(t, 3), []LostDevice{}
			members[1].Device = &mortal{Device: members[1].Device, dies: dies, inCommit: inCommit}
			got, err := trainSteps(t, members, Config{Lost: func(e LostDevice) { events = append(events, e) }})
			if err != nil {
				t.Fatalf("dies at run %d, in commit %v: %v", dies, inCommit, err)
			}
			if got != want {
				t.Errorf("dies at run %d, in commit %v: other bits", dies, inCommit)
			}
			if len(events) != 1 || events[0].Device != "ref1" || len(events[0].MovedTo) != 2 {
				t.Errorf("dies at run %d, in commit %v: events %+v, want one of ref1", dies, inCommit, events)
			}
		}
	}
}

func TestLastDeviceLost(t *testing.T) {
	members := refs(t, 2)
	members[0].Device = &mortal{Device: members[0].Device, dies: 2}
	members[1].Device = &mortal{Device: members[1].Device, dies: 3}
	_, err := trainSteps(t, members, Config{})
	if !errors.Is(err, NoDevices) || !errors.Is(err, device.Lost) {
		t.Errorf("err = %v, want NoDevices because of a lost one", err)
	}
}

// picky is a device that lacks one operation.
type picky struct {
	device.Device
	lacks graph.Op
}

func (p *picky) Load(ctx context.Context, prog *graph.Program, c device.Capacity) (device.Executable, error) {
	r := &device.Refused{}
	for _, f := range prog.Functions {
		for i := range f.Nodes {
			if f.Nodes[i].Op == p.lacks {
				r.Nodes = append(r.Nodes, device.Refusal{Function: f.Name, Node: f.NodeName(&f.Nodes[i]), Op: p.lacks,
					Why: "no such kernel"})
			}
		}
	}
	if len(r.Nodes) > 0 {
		return nil, device.Errorf("picky", "Load", device.Unsupported, "%w", r)
	}
	return p.Device.Load(ctx, prog, c)
}

func TestRefusedNodesAreDecomposed(t *testing.T) {
	members := refs(t, 2)
	members[1].Device = &picky{members[1].Device, graph.ChannelSum} // bias gradients use it; it is decomposed
	if _, err := trainSteps(t, members, Config{}); err != nil {
		t.Error(err)
	}
}

func TestRefusedNodesAreNamed(t *testing.T) {
	members, m := refs(t, 2), small(t)
	members[1].Device = &picky{members[1].Device, graph.Dense}
	_, err := Open(context.Background(), program(t, m, spmd.Options{Replicas: 4, BN: bn.Sync}), m.State, members,
		Config{Replicas: 4, Batch: 8})
	if !errors.Is(err, device.Unsupported) || !strings.Contains(err.Error(), "fc1") ||
		!strings.Contains(err.Error(), "ref1") {
		t.Errorf("err = %v, want one that names ref1 and fc1", err)
	}
}
