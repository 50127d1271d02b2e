package parallel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/internal/placement"
	"github.com/bnctl/bnctl/tensor"
)

// A state arrives unchanged at another rank; a shorter or longer one is rejected.
func TestStateIsSentWhole(t *testing.T) {
	r := &rankGroup{program: newCommonProgram(&graph.Program{State: []graph.State{
		{Name: "b", DType: tensor.F32, Shape: []int{3}}, {Name: "a", DType: tensor.F32, Shape: []int{2, 1}}}})}
	a, b := tensor.Of([]float32{1, 2}, 2, 1), tensor.Of([]float32{3, 4, 5}, 3)
	state := map[string]tensor.Tensor{"a": a, "b": b}
	sent := r.packed(state)
	got, err := r.unpacked(sent)
	if err != nil || len(got) != 2 || !tensor.Equal(got["a"], a) || !tensor.Equal(got["b"], b) {
		t.Errorf("%v, %v", got, err)
	}
	for _, broken := range [][]byte{nil, sent[:4], sent[:12], sent[:19], append(slices.Clone(sent), 0)} {
		if got, err := r.unpacked(broken); err == nil {
			t.Errorf("%d bytes of %d are %v", len(broken), len(sent), got)
		}
	}
}

// Ranks together predict every row once, in shares as even as possible. With fewer rows
// than ranks, each rank predicts all rows.
func TestOwnRows(t *testing.T) {
	for rows := range 9 {
		said, err := onRanks(3, func(p *fabric.Peers) (string, error) {
			from, to := (&Driver{config: Config{Peers: p}}).OwnRows(rows)
			return fmt.Sprint(from, to), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := [][3]string{{"0 0", "0 0", "0 0"}, {"0 1", "0 1", "0 1"}, {"0 2", "0 2", "0 2"},
			{"0 1", "1 2", "2 3"}, {"0 1", "1 2", "2 4"}, {"0 1", "1 3", "3 5"},
			{"0 2", "2 4", "4 6"}, {"0 2", "2 4", "4 7"},
			{"0 2", "2 5", "5 8"}}[rows]
		if !slices.Equal(said, want[:]) {
			t.Errorf("%d rows: %q, want %q", rows, said, want)
		}
	}
	if from, to := (&Driver{}).OwnRows(2); from != 0 || to != 2 {
		t.Errorf("without others: rows %d to %d", from, to)
	}
}

// exactly returns members; exact lists which of them have exact updates.
func exactly(exact ...bool) (ms members) {
	for i, is := range exact {
		info := device.Info{}
		if is {
			info.Features = []string{device.ExactUpdates}
		}
		ms = append(ms, &member{Member: Member{Name: fmt.Sprint(i), Device: stated{info: info}}})
	}
	return ms
}

// stated is a device with only a description.
type stated struct {
	device.Device
	info device.Info
}

func (s stated) Info() device.Info { return s.info }

// The first member with exact updates makes them for the others if some members are
// inexact.
func TestLeader(t *testing.T) {
	for _, c := range []struct {
		members members
		leader  string
		drift   bool
	}{
		{exactly(true), "0", false}, {exactly(false), "0", false}, {exactly(true, true), "0", false},
		{exactly(false, true, true), "1", true}, {exactly(true, false), "0", true},
		{exactly(false, false), "0", true},
	} {
		if got := c.members.leader().Name; got != c.leader || c.members.updatesDiffer() != c.drift {
			t.Errorf("leader %s, want %s; drift %v", got, c.leader, c.members.updatesDiffer())
		}
	}
}

// A device with only one measurement of its speed keeps at least one replica.
func TestLeast(t *testing.T) {
	g := groupOf(Config{Replicas: 3}, 1, 1, 1)
	g.members[1].pace.times, g.members[2].pace.times = 1, 2
	if got := g.members.least(); !slices.Equal(got, []int{1, 1, 0}) {
		t.Errorf("%v", got)
	}
	got, err := placement.BySpeed(4, 3, []float64{1e-9, 1e9, 1e9}, []int{1, 0, 0})
	if err != nil || len(got[0]) != 1 || len(got[1])+len(got[2]) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := PlaceCounts(3, []int{0, 3}); err != nil || len(got[1]) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := PlaceCounts(3, []int{-1, 4}); err == nil {
		t.Errorf("a device has %v", got)
	}
}
