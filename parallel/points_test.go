package parallel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
)

// onMachine is a device on a machine; adds reports whether it can add values there with others.
type onMachine struct {
	device.Device
	machine string
	adds    bool
}

func (d onMachine) Link() device.Link { return device.Link{Machine: d.machine} }

func (d onMachine) Info() (i device.Info) {
	if i.Levels = []string{device.Stream}; d.adds {
		i.Levels = append(i.Levels, device.OnMachine)
	}
	return i
}

// Devices of one machine that add their values there are one point of the hub, and are missing
// together. If they are the only point, they exchange nothing with the host.
func TestPoints(t *testing.T) {
	of := func(machine string, adds bool) *member {
		return &member{Member: Member{Device: onMachine{nil, machine, adds}}}
	}
	a, b, old, here := of("a", true), of("b", true), of("old", false), of("", true)
	for _, c := range []struct {
		members   members
		want      string
		exchanges []bool // whether each rank exchanges
	}{
		{members{here, a, b, a}, "[[0] [1 3] [2]]", []bool{true, true, true, false}},
		{members{old, old, here, here}, "[[0] [1] [2] [3]]", []bool{true, true, true, true}},
		{members{a, a, a}, "[[0 1 2]]", []bool{false, false, false}},
		{members{a}, "[[0]]", []bool{true}},
	} {
		points := pointsOf(c.members)
		if fmt.Sprint(points) != c.want {
			t.Errorf("points %v, want %s", points, c.want)
		}
		h := &pointsHub{collective.NewHub(len(c.members), len(points)), points, false, nil}
		for rank, want := range c.exchanges {
			g := h.group(rank, []byte("run"))
			if (g.Exchange != nil) != want {
				t.Errorf("%v: rank %d has the exchange %v", points, rank, g.Exchange)
			}
			at := slices.IndexFunc(points, func(p []int) bool { return slices.Contains(p, rank) })
			shares := len(points[at]) > 1
			if shares != (g.Level == device.OnMachine) || shares != (len(g.Machine) > 1) {
				t.Errorf("%v: rank %d meets at %s with %v", points, rank, g.Level, g.Machine)
			}
		}
	}
	h := &pointsHub{collective.NewHub(4, 2), [][]int{{0}, {1, 2}}, false, nil}
	if h.Missing() != nil {
		t.Error("somebody is missing before any exchange")
	}
	h.hub.Member(0).Start(t.Context(), collective.Tag{}, nil)
	if got := h.Missing(); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("missing %v", got)
	}
}
