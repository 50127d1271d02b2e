package parallel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
)

// stagedRanks is a run on two ranks, with two columns or two stages on each.
type stagedRanks struct {
	model   *models.Model
	program *graph.Program
	stages  int
	config  parallel.Config
	members func(rank int) []parallel.Member
	want    map[string][]byte // expected on every rank; nil: the run fails
}

// run trains on two ranks and returns the error of each.
func (r *stagedRanks) run(t *testing.T) []error {
	return overRanks(2, func(p *fabric.Peers) error {
		c := r.config
		c.Peers = p
		d, err := parallel.OpenStaged(t.Context(), r.model.Graph, r.program, stage.Spec{Number: r.stages},
			r.model.State, r.members(p.Rank()), c)
		if err != nil {
			return err
		}
		defer d.Close()
		got, err := shown(t.Context(), d, r.program)
		if err == nil && len(got) != len(r.want) {
			err = fmt.Errorf("%d things are shown, want %d", len(got), len(r.want))
		}
		for name, v := range got {
			if !bytes.Equal(v, r.want[name]) {
				err = errors.Join(err, fmt.Errorf("%s has other bits", name))
			}
		}
		return err
	})
}

// TestStagesOverRanksLoseDevices: whichever device of a rank dies, at any run, all ranks have the
// bits of one device. Either the other column runs the replicas of the lost device, or all stages
// return to the snapshot and repeat.
func TestStagesOverRanksLoseDevices(t *testing.T) {
	for _, mode := range []bn.Mode{bn.Replica, bn.Sync} {
		m, p := stagedModel(t, mode)
		config := parallel.Config{Replicas: 4, Batch: 8}
		one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		var lost atomic.Int32
		config.Lost = func(parallel.LostDevice) { lost.Add(1) }
		config.Reopen = func(_ context.Context, name string) (device.Device, error) { return ref.New(name), nil }
		r := stagedRanks{model: m, program: p, config: config, want: fingerprint(t, one, p)}
		for _, r.stages = range []int{2, 4} {
			for dies := range 4 {
				for _, after := range []int32{3, 13} {
					runs := new(atomic.Int32)
					runs.Store(after)
					r.members = func(rank int) []parallel.Member {
						members := refs(2)
						if rank == dies/2 {
							members[dies%2].Device = mortal{members[dies%2].Device, runs}
						}
						return members
					}
					for rank, err := range r.run(t) {
						if err != nil {
							t.Errorf("%s, %d stages, device %d dies after %d runs, rank %d: %v", mode, r.stages, dies, after,
								rank, err)
						}
					}
				}
			}
		}
		if lost.Load() < 8 {
			t.Errorf("%d devices were lost", lost.Load())
		}
	}
}

// TestStagesOverRanksGoToOtherDevices: if the last device of a stage does not come back,
// its layers move to a neighbouring stage, on this rank or on another. A rank may then have
// zero stages. The bits stay the same.
func TestStagesOverRanksGoToOtherDevices(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	config := parallel.Config{Replicas: 4, Batch: 8, Timeout: 20 * time.Second}
	one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want := fingerprint(t, one, p)
	config.Reopen = gone
	for _, c := range []struct {
		stages, devices int
		dying           [2][]int // devices of each rank
		after           int32
		fails           string
	}{{2, 1, [2][]int{{}, {0}}, 9, ""}, {4, 2, [2][]int{{0}, {}}, 9, ""}, {4, 2, [2][]int{{1}, {0}}, 9, ""},
		{4, 2, [2][]int{{}, {0, 1}}, 4, ""}, {2, 2, [2][]int{{}, {0, 1}}, 14, ""},
		{2, 1, [2][]int{{0}, {}}, 14,
			"no other device takes the layers of stage 1: rank 1 has not read the samples"}} {
		synctest.Test(t, func(t *testing.T) {
			var moved atomic.Int32
			config.Moved = func(e parallel.MovedStage) {
				if moved.Add(1); len(e.To) == 0 || e.First == "" {
					t.Errorf("%+v", e)
				}
			}
			r := stagedRanks{model: m, program: p, stages: c.stages, config: config, want: want}
			r.members = func(rank int) []parallel.Member {
				members := refs(c.devices)
				for _, i := range c.dying[rank] {
					runs := new(atomic.Int32)
					runs.Store(c.after)
					members[i].Device = mortal{members[i].Device, runs}
				}
				return members
			}
			for rank, err := range r.run(t) {
				if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) ||
					c.fails == "" && (err != nil || moved.Load() == 0) {
					t.Errorf("%v, rank %d: %d moved, %v", c, rank, moved.Load(), err)
				}
			}
		})
	}
}

// TestStagesOverRanksEnd: the last device of a stage does not come back, and the device of the other
// stage has too little memory for its layers. Then all ranks end, after whichever run the device was
// lost, and name the device without memory. The error of each rank names the other rank once.
func TestStagesOverRanksEnd(t *testing.T) {
	for after := range int32(18) {
		synctest.Test(t, func(t *testing.T) {
			m, p := stagedModel(t, bn.Replica)
			r := stagedRanks{model: m, program: p, stages: 2, config: parallel.Config{Replicas: 4, Batch: 8,
				Reopen: gone, Timeout: 20 * time.Second}}
			r.members = func(rank int) []parallel.Member {
				members, runs := narrows(1, 0, func(q *graph.Program) bool { return len(q.State) == len(p.State) }),
					new(atomic.Int32)
				if runs.Store(after); rank == 1 {
					members[0].Device = mortal{members[0].Device, runs}
				}
				return members
			}
			for rank, err := range r.run(t) {
				if !errors.Is(err, parallel.NoDevices) || !strings.Contains(err.Error(), "none came back within 20s") ||
					strings.Count(err.Error(), "rank 1: ") != 1-rank || strings.Contains(err.Error(), "rank 0: ") ||
					strings.Count(err.Error(), "no other device takes the layers of stage 2: ") != 1 {
					t.Errorf("after %d runs, rank %d: %v", after, rank, err)
				}
			}
		})
	}
}

// TestStagesOverRanksFitTheMemory: if a device of the second rank has too little memory for
// its stage, all ranks try more stages, or end.
func TestStagesOverRanksFitTheMemory(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	for _, c := range []struct{ most, stages int }{{1000, 2}, {12, 4}, {1, 0}} {
		var mu sync.Mutex
		stages := map[int]int{}
		for rank, err := range overRanks(2, func(peers *fabric.Peers) error {
			members := refs(2)
			if peers.Rank() == 1 {
				members = narrows(2, 0, func(p *graph.Program) bool { return len(p.State) > c.most })
			}
			d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Auto: true}, m.State, members,
				parallel.Config{Replicas: 4, Batch: 8, Peers: peers, Divided: func(p *parallel.Plan) {
					mu.Lock()
					defer mu.Unlock()
					stages[peers.Rank()] = len(p.Stages)
				}})
			if err == nil {
				err = d.Close()
			}
			return err
		}) {
			if (err == nil) != (c.stages > 0) || err != nil && !errors.Is(err, device.OutOfMemory) ||
				stages[rank] != c.stages {
				t.Errorf("at most %d tensors, rank %d: %d stages, %v; want %d", c.most, rank, stages[rank], err, c.stages)
			}
		}
	}
}

// TestStagesThatRanksCannotHave: all columns of a stage must be on one rank.
func TestStagesThatRanksCannotHave(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	for _, c := range []struct {
		devices []int
		stages  int
		want    string
	}{
		{[]int{1, 1, 1, 1}, 2, "stages 2: rank 0 has 1 device, and a stage 2, which lie on one rank; give all ranks as " +
			"many devices, and use stages 4"},
		{[]int{2, 1, 3}, 3, "stages 3: rank 1 has 1 device, and a stage 2"},
		{[]int{1, 2}, 2, "stages 2: 3 devices cannot be dealt to 2 stages alike"},
		{[]int{1, 1}, 1, "stages 1: rank 0 has 1 device, and a stage 2"},
	} {
		for rank, err := range overRanks(len(c.devices), func(peers *fabric.Peers) error {
			_, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: c.stages}, m.State,
				refs(c.devices[peers.Rank()]), parallel.Config{Replicas: 4, Batch: 8, Peers: peers})
			return err
		}) {
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v, rank %d: %v, want %q", c.devices, rank, err, c.want)
			}
		}
	}
}
