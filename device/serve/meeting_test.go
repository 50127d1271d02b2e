package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// recorder is an Exchanger that adds 100 to the values, and records their nodes.
type recorder struct {
	nodes []collective.Node
	err   error
}

func (r *recorder) Start(_ context.Context, _ collective.Tag, values []collective.Reduction) func() error {
	for _, v := range values {
		v.Result.F32()[0] = 100
		for _, p := range v.Partials {
			r.nodes = append(r.nodes, p.Node)
			v.Result.F32()[0] += p.Value.F32()[0]
		}
	}
	return func() error { return r.err }
}

// machineGroup returns the group of a rank: ranks 0 and 2 are on this machine, with replicas 0, 1 and 4 of 5.
func machineGroup(rank int) device.Group {
	return device.Group{Generation: 7, Rank: rank, Replicas: [][]int{{0, 1}, {2, 3}, {4}}, Machine: []int{0, 2},
		Rendezvous: []byte("run"), Level: device.OnMachine, Tree: 5}
}

// exchangeOf starts a sum with one value for each node that a rank has: the node's first replica plus one.
func exchangeOf(m collective.Exchanger, g device.Group, sequence uint64) (tensor.Tensor, func() error) {
	var partials []collective.Partial
	for _, n := range collective.Cover(5, g.Replicas[g.Rank]) {
		v := tensor.New(tensor.F32, 1)
		v.F32()[0] = float32(n.From + 1)
		partials = append(partials, collective.Partial{Node: n, Value: v})
	}
	result := tensor.New(tensor.F32, 1)
	tag := collective.Tag{Generation: 7, Lane: collective.Gradients, Sequence: sequence, Name: "g"}
	return result, m.Start(context.Background(), tag,
		[]collective.Reduction{{Op: collective.Sum, Partials: partials, Result: result}})
}

// TestMeetingSendsOneValueForANode checks that the devices of a machine send the host one value for each node
// of their joint replicas, through the first device, in whatever order they join and start the exchange.
func TestMeetingSendsOneValueForANode(t *testing.T) {
	for _, order := range [][]int{{0, 2}, {2, 0}} {
		var all meetings
		host := &recorder{}
		members := map[int]collective.Exchanger{}
		for _, rank := range order {
			x := collective.Exchanger(host)
			if rank == 2 {
				x = nil // only rank 0 may exchange with the host
			}
			_, m, err := all.join(machineGroup(rank), x)
			if err != nil {
				t.Fatal(err)
			}
			members[rank] = m
		}
		for sequence := range uint64(3) {
			host.nodes = nil
			a, waitA := exchangeOf(members[order[0]], machineGroup(order[0]), sequence)
			b, waitB := exchangeOf(members[order[1]], machineGroup(order[1]), sequence)
			if err := errors.Join(waitA(), waitB()); err != nil {
				t.Fatal(err)
			}
			want := []collective.Node{{From: 0, To: 2}, {From: 4, To: 5}}
			if !slices.Equal(host.nodes, want) || a.F32()[0] != 106 || b.F32()[0] != 106 {
				t.Errorf("%v: nodes %v, results %v and %v", order, host.nodes, a.F32(), b.F32())
			}
		}
	}
}

// TestMeetingOfAllLeaves checks that devices with all leaves of the tree exchange nothing with the host.
func TestMeetingOfAllLeaves(t *testing.T) {
	var all meetings
	g := device.Group{Generation: 1, Replicas: [][]int{{0, 1}, {2, 3, 4}}, Machine: []int{0, 1}, Tree: 5,
		Level: device.OnMachine}
	_, first, err := all.join(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := g
	other.Rank = 1
	_, second, err := all.join(other, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, waitA := exchangeOf(first, g, 0)
	_, waitB := exchangeOf(second, other, 0)
	if err := errors.Join(waitA(), waitB()); err != nil || a.F32()[0] != 1+3+5 {
		t.Errorf("%v, %v", a.F32(), err)
	}
}

// TestMeetingEnds checks that exchanges of all devices end if a device leaves, or if the host ends the group.
// A meeting without devices is removed.
func TestMeetingEnds(t *testing.T) {
	for name, end := range map[string]func(host *recorder, left *meeting){
		"a device leaves": func(_ *recorder, left *meeting) { left.leave() },
		"a run fails":     func(_ *recorder, left *meeting) { left.abort(errors.New("out of memory")) },
	} {
		var all meetings
		host := &recorder{}
		first, m, err := all.join(machineGroup(0), host)
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := all.join(machineGroup(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, wait := exchangeOf(m, machineGroup(0), 0)
		end(host, second)
		if err := wait(); !errors.Is(err, collective.Aborted) {
			t.Errorf("%s: %v", name, err)
		}
		first.leave()
		if name == "a run fails" {
			second.leave()
		}
		if len(all.byName) != 0 {
			t.Errorf("%s: %d meetings are left", name, len(all.byName))
		}
	}
}

// TestMeetingRefuses checks that devices with different descriptions of their group do not meet.
func TestMeetingRefuses(t *testing.T) {
	for name, spoil := range map[string]func(g *device.Group){
		"another group than":      func(g *device.Group) { g.Replicas = [][]int{{0}, {1, 2, 3}, {4}} },
		"ranks [] of a machine":   func(g *device.Group) { g.Machine = nil },
		"of the machine of rank":  func(g *device.Group) { g.Machine = []int{0, 1} },
		"ranks [2 9] of a":        func(g *device.Group) { g.Machine = []int{2, 9} },
		"want none twice":         func(g *device.Group) { g.Replicas = [][]int{{0, 1}, {1, 2}, {4}} },
		"ranks [2] of a machine,": func(g *device.Group) { g.Machine = []int{2} },
	} {
		var all meetings
		if _, _, err := all.join(machineGroup(0), &recorder{}); err != nil {
			t.Fatal(err)
		}
		g := machineGroup(2)
		spoil(&g)
		if _, _, err := all.join(g, nil); err == nil || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
