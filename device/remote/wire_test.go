package remote_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestLevels checks that a session runs at the level (transport) that was allowed.
func TestLevels(t *testing.T) {
	for _, level := range levels {
		d := open(t, start(t, "ref", level))
		if got := d.Info().Levels; len(got) != 1 || got[0] != level {
			t.Errorf("levels of a session that may only be %s: %v (%s)", level, got, d.Info().Note)
		}
	}
}

// TestGroupOverTheWire trains a few steps on a group of devices, some in this process and
// some in plugin processes, and compares all bits with one device alone.
func TestGroupOverTheWire(t *testing.T) {
	p := regression(t)
	want := train(t, p, []device.Device{ref.New("alone")}, [][]int{{0, 1, 2, 3}})
	members := []device.Device{
		open(t, start(t, "ref", device.Stream)), open(t, start(t, "ref", device.Shm)), ref.New("near"),
	}
	for _, replicas := range [][][]int{
		{{0, 1}, {2}, {3}}, {{3}, {0, 2}, {1}}, {{0, 1, 2, 3}, {}, {}}, {{}, {0, 1, 3}, {2}},
	} {
		got := train(t, p, members, replicas)
		for i := range want {
			if !tensor.Equal(got[i], want[i]) {
				t.Errorf("replicas %v: state %d is %v, alone %v", replicas, i, got[i].F32(), want[i].F32())
			}
		}
	}
}

// gather opens devices and joins them in a group, each with one replica, at the best
// level that all devices have.
func gather(t testing.TB, p *remote.Plugin, n int) []device.Device {
	t.Helper()
	hub := collective.NewHub(n, n)
	var members []device.Device
	g := device.Group{Generation: 1}
	for rank := range n {
		members = append(members, open(t, p))
		g.Replicas = append(g.Replicas, []int{rank})
	}
	inMemory := n > 1 && slices.Contains(members[0].Info().Levels, device.CollShm)
	if inMemory {
		m, err := remote.Rendezvous{}.Meet(device.CollShm, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		g.Level, g.Rendezvous = device.CollShm, m.Rendezvous()
	}
	for rank, d := range members {
		if g.Rank = rank; !inMemory {
			g.Exchange = hub.Member(rank)
		}
		if err := d.Join(context.Background(), g); err != nil {
			t.Fatal(err)
		}
	}
	return members
}

// train makes three steps and returns the state, which must be the same on all members.
func train(t *testing.T, p *graph.Program, members []device.Device, replicas [][]int) []tensor.Tensor {
	t.Helper()
	ctx := context.Background()
	hub := collective.NewHub(4, len(members))
	done := make(chan error, len(members))
	states := make([][]tensor.Tensor, len(members))
	for rank, d := range members {
		go func() {
			g := device.Group{Generation: 3, Rank: rank, Replicas: replicas, Exchange: hub.Member(rank)}
			var err error
			states[rank], err = trainMember(ctx, d, p, g)
			done <- err
		}()
	}
	for range members {
		if err := <-done; err != nil {
			hub.Abort(err)
			t.Fatal(err)
		}
	}
	for rank, s := range states {
		for i := range s {
			if !tensor.Equal(s[i], states[0][i]) {
				t.Errorf("replicas %v: rank %d has other state than rank 0", replicas, rank)
			}
		}
	}
	return states[0]
}

var rowsOf = []int{5, 0, 2, 1} // rows by replica

func trainMember(ctx context.Context, d device.Device, p *graph.Program, g device.Group) (
	[]tensor.Tensor, error) {
	x, err := d.Load(ctx, p, device.Capacity{Rows: 8, Replicas: 4})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := d.Join(ctx, g); err != nil {
		return nil, err
	}
	if err := x.Write(ctx, "w", tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)); err != nil {
		return nil, err
	}
	for v := range device.Version(3) {
		if _, err := x.Run(ctx, slice(step(uint64(v), rowsOf...), g.Replicas[g.Rank])); err != nil {
			return nil, err
		}
		if err := x.Commit(ctx, v, device.Hyper{"lr": 0.125}); err != nil {
			return nil, err
		}
	}
	w, err := x.Read(ctx, "w")
	if err != nil {
		return nil, err
	}
	v, err := x.Read(ctx, "v")
	return []tensor.Tensor{w, v}, err
}

// slice returns the part of a step of all replicas that belongs to some of them.
func slice(s device.Step, held []int) device.Step {
	out := device.Step{Function: s.Function, Number: s.Number}
	starts := []int{0}
	for _, n := range s.Rows {
		starts = append(starts, starts[len(starts)-1]+n)
	}
	for _, r := range held {
		out.Rows = append(out.Rows, s.Rows[r])
	}
	for _, in := range s.Inputs {
		shape := append([]int{0}, in.Shape[1:]...)
		t := tensor.New(in.DType, shape...)
		for _, r := range held {
			part := in.Rows(starts[r], starts[r+1])
			t.Bytes = append(t.Bytes, part.Bytes...)
			t.Shape[0] += part.Shape[0]
		}
		out.Inputs = append(out.Inputs, t.Clone())
	}
	return out
}

// TestErrorsKeepTheirKind makes mistakes of each kind over the wire.
func TestErrorsKeepTheirKind(t *testing.T) {
	ctx := context.Background()
	for _, level := range levels {
		d := open(t, start(t, "ref", level))
		x := load(t, d, regression(t))
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		_, errRead := x.Read(ctx, "nothing")
		_, errInputs := x.Run(ctx, device.Step{Function: graph.Train, Rows: []int{1}})
		nothing := make([]tensor.Tensor, 2)
		_, errShape := x.Run(ctx, device.Step{Function: graph.Train, Rows: []int{1}, Inputs: nothing})
		_, errFunction := x.Run(ctx, device.Step{Function: "dance"})
		_, errCanceled := x.Run(canceled, step(1, 2))
		for name, test := range map[string]struct {
			err  error
			want error
		}{
			"Read of unknown state":     {errRead, device.Invalid},
			"Write of unknown state":    {x.Write(ctx, "nothing", tensor.Scalar(float32(1))), device.Invalid},
			"Run without inputs":        {errInputs, device.Invalid},
			"Run with broken tensors":   {errShape, device.Invalid},
			"Run of unknown function":   {errFunction, device.Invalid},
			"Commit of another version": {x.Commit(ctx, 9, nil), device.Invalid},
			"Run with an ended context": {errCanceled, context.Canceled},
			"Join without members":      {d.Join(ctx, device.Group{}), device.Invalid},
		} {
			if !errors.Is(test.err, test.want) {
				t.Errorf("%s: %s: %v, want one that is %v", level, name, test.err, test.want)
			}
		}
		if _, err := x.Run(ctx, step(2, 3, 0)); err != nil {
			t.Errorf("%s: a run after all that: %v", level, err)
		}
	}
}

// TestAbortReachesEverybody aborts a group while one member waits.
func TestAbortReachesEverybody(t *testing.T) {
	for _, level := range levels {
		d := open(t, start(t, "ref", level))
		x := load(t, d, regression(t))
		hub := collective.NewHub(2, 2)
		g := device.Group{Generation: 1, Replicas: [][]int{{0}, {1}}, Exchange: hub.Member(0)}
		if err := d.Join(context.Background(), g); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := x.Run(context.Background(), step(1, 2))
			done <- err
		}()
		for hub.Missing() == nil {
		}
		hub.Abort(errors.New("somebody left"))
		if err := <-done; !errors.Is(err, collective.Aborted) || !errors.Is(err, device.Aborted) {
			t.Errorf("%s: run of an aborted group: %v", level, err)
		}
		other := collective.NewHub(1, 1).Member(0)
		again := device.Group{Generation: 2, Replicas: [][]int{{0}, {}}, Exchange: other}
		if err := d.Join(context.Background(), again); err != nil {
			t.Errorf("%s: Join of the next group: %v", level, err)
		}
		if _, err := x.Run(context.Background(), step(1, 2)); err != nil {
			t.Errorf("%s: run of the next group: %v", level, err)
		}
	}
}

// older serves devices like a plugin without Join.leaves: it assumes that the members have all
// replicas.
type older struct{ ref.Provider }

type olderDevice struct{ device.Device }

func (o older) Open(ctx context.Context, id string, opts device.Options) (device.Device, error) {
	d, err := o.Provider.Open(ctx, id, opts)
	return olderDevice{d}, err
}

func (d olderDevice) Join(ctx context.Context, g device.Group) error {
	g.Tree = 0
	return d.Device.Join(ctx, g)
}

// TestOlderPluginInALargerTree checks that a run is refused if a plugin assumes that it is alone, and
// therefore returns the sums of its own replicas only.
func TestOlderPluginInALargerTree(t *testing.T) {
	d := open(t, start(t, "older", device.Stream))
	x := load(t, d, regression(t))
	g := device.Group{Generation: 1, Replicas: [][]int{{0}}, Exchange: collective.NewHub(1, 1).Member(0)}
	if err := d.Join(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Run(t.Context(), step(1, 2)); err != nil {
		t.Errorf("a run of a group that holds all: %v", err)
	}
	g.Generation, g.Tree = 2, 2
	if err := d.Join(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Run(t.Context(), step(1, 2)); err == nil || !strings.Contains(err.Error(), "Join.leaves") {
		t.Errorf("a run of half of a tree: %v, want an error that names Join.leaves", err)
	}
}

// TestPartOfATreeDoesNotMeetInMemory checks that a group with only some replicas of the run is not joined at
// level coll.shm/1, because it must exchange data through the host.
func TestPartOfATreeDoesNotMeetInMemory(t *testing.T) {
	if !slices.Contains(levels, device.Shm) {
		t.Skip("this system has no shared memory of this kind")
	}
	d := open(t, start(t, "ref", device.Shm, device.CollShm))
	m, err := remote.Rendezvous{}.Meet(device.CollShm, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	g := device.Group{Generation: 1, Replicas: [][]int{{0}}, Tree: 2, Level: device.CollShm,
		Rendezvous: m.Rendezvous()}
	if err := d.Join(t.Context(), g); !errors.Is(err, device.Unavailable) {
		t.Errorf("Join: %v, want unavailable", err)
	}
}
