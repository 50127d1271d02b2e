package parallel_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// overRanks calls f for every rank of a run and returns its errors.
func overRanks(size int, f func(p *fabric.Peers) error) []error {
	errs := make([]error, size)
	var wait sync.WaitGroup
	for i, r := range inprocess.New(size) {
		wait.Go(func() {
			p := fabric.New(r, 20*time.Second)
			errs[i] = errors.Join(f(p), p.Close())
		})
	}
	wait.Wait()
	return errs
}

// TestStagesOverRanks: for any division of stages among ranks, all ranks have the result of
// one device.
func TestStagesOverRanks(t *testing.T) {
	for _, mode := range []bn.Mode{bn.Replica, bn.Sync, bn.Frozen} {
		m, p := stagedModel(t, mode)
		config := parallel.Config{Replicas: 4, Batch: 8}
		one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		want := fingerprint(t, one, p)
		for _, c := range []struct {
			stages  string
			devices []int // devices of each rank
		}{{"2", []int{1, 1}}, {"3", []int{1, 1, 1}}, {"2", []int{2, 2}}, {"4", []int{2, 2}}, {"3", []int{1, 2}},
			{"3", []int{4, 2}}, {"a.relu,side.pool", []int{1, 1, 1}}, {"pool,drop,softmax", []int{1, 3}}} {
			s, err := stage.Parse(c.stages)
			if err != nil {
				t.Fatal(err)
			}
			for rank, err := range overRanks(len(c.devices), func(peers *fabric.Peers) error {
				c, config := c.devices[peers.Rank()], config
				config.Peers = peers
				planned := 0
				config.Measure = peers.Rank() == 1 // if one rank measures, all ranks do
				config.Divided = func(plan *stage.Plan) { planned = len(plan.Stages) }
				d, err := parallel.OpenStaged(t.Context(), m.Graph, p, s, m.State, refs(c), config)
				if err != nil {
					return err
				}
				defer d.Close()
				if planned != max(s.Number, len(s.Layers)+1) {
					return fmt.Errorf("a plan of %d stages", planned)
				}
				got, err := shown(t.Context(), d, p)
				if len(got) != len(want) && err == nil {
					err = fmt.Errorf("%d things are shown, want %d", len(got), len(want))
				}
				for name, v := range got {
					if !bytes.Equal(v, want[name]) {
						t.Errorf("%s, %v, rank %d: %s has other bits than on one device", mode, s, peers.Rank(), name)
					}
				}
				return err
			}) {
				if err != nil {
					t.Fatalf("%s, %v, rank %d: %v", mode, c, rank, err)
				}
			}
		}
	}
}

// TestPipelineOverRanks: stages on several ranks predict the same as one device, on all ranks. If a
// device is lost, other devices of its rank run its layers.
func TestPipelineOverRanks(t *testing.T) {
	m, program := smallModel(t)
	x, err := models.RandomInput(m, 23)
	if err != nil {
		t.Fatal(err)
	}
	one, err := parallel.Open(t.Context(), program, m.State, refs(1), parallel.Config{Replicas: 1, Batch: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want, err := one.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stages  int
		devices []int
		dies    int32 // runs of the last device of the last rank before it dies; -1: it never dies
		fails   string
	}{{2, []int{1, 1}, -1, ""}, {3, []int{1, 2}, -1, ""}, {2, []int{2, 2}, 3, ""}, {4, []int{2, 2}, 3, ""},
		{2, []int{1, 1}, 3, "no device is left"}} {
		for rank, err := range overRanks(len(c.devices), func(peers *fabric.Peers) error {
			members := refs(c.devices[peers.Rank()])
			if peers.Rank() == len(c.devices)-1 && c.dies >= 0 {
				left := new(atomic.Int32)
				left.Store(c.dies)
				last := &members[len(members)-1]
				last.Device = mortal{last.Device, left}
			}
			p, err := parallel.OpenPipeline(t.Context(), m.Graph, program, stage.Spec{Number: c.stages}, m.State,
				members, parallel.Config{Batch: 8, Peers: peers, Lost: func(parallel.LostDevice) {}})
			if err != nil {
				return err
			}
			defer p.Close()
			if from, to := p.OwnRows(23); (to-from == 23) != (peers.Rank() == 0) {
				return fmt.Errorf("it reads rows %d to %d", from, to)
			}
			for range 2 {
				got, err := p.Predict(t.Context(), x)
				if err != nil {
					return err
				}
				for i := range want {
					if !tensor.Equal(got[i], want[i]) {
						return fmt.Errorf("output %d has other bits", i)
					}
				}
			}
			return nil
		}) {
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%v, rank %d: %v", c, rank, err)
			}
		}
	}
}
