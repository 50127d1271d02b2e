package parallel

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/weightsync"
)

// localSteps trains replicas with separate weights that are averaged every third step; one
// batch is a tail with empty replicas. It returns the results as text.
func localSteps(t *testing.T, members []Member, c Config, steps int) string {
	t.Helper()
	ctx, m := context.Background(), small(t)
	c.Replicas, c.Batch, c.Local = 5, 20, true
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: bn.Replica}), m.State, members, c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, got := weightsync.NewLocalSGD(d.OneByOne(), m.State), ""
	for i := range steps {
		b := batchOf(20-7*(i%2), 5, Pad, 20) // 20: four rows each; 13: 4, 4, 4, 1, 0
		for _, n := range b.Sizes {
			b.Inverses = append(b.Inverses, 1/float32(max(n, 1)))
		}
		r, err := l.Step(ctx, b, device.Hyper{"lr": 0.1})
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		got += fmt.Sprint(r.Loss, r.Counted, r.Moments[0].F64())
		l.Commit()
		if i%3 == 2 {
			l.Average()
		}
		if i%4 == 3 {
			r, err := l.DryRun(ctx, b)
			if err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprint("look", r.Loss)
		}
	}
	for r, replicaTensors := range l.ReplicaStates() {
		got += fmt.Sprint(r, replicaTensors["fc1.weight"].F32())
	}
	for _, s := range m.Graph.State {
		got += fmt.Sprint(s.Name, l.State()[s.Name].F32())
	}
	return got
}

func TestReplicasOnTheirOwnHaveTheSameBits(t *testing.T) {
	want := localSteps(t, refs(t, 1), Config{}, 8)
	for _, devices := range []int{2, 3, 5} {
		if got := localSteps(t, refs(t, devices), Config{}, 8); got != want {
			t.Errorf("%d devices give other bits than 1", devices)
		}
	}
	if got := localSteps(t, refs(t, 3), Config{Placement: []int{4, 0, 1}}, 8); got != want {
		t.Error("a device without replicas changes bits")
	}
}

// TestReplicasOnTheirOwnSurvive: training survives a single device that dies in every step,
// and devices that die and hang in every way.
func TestReplicasOnTheirOwnSurvive(t *testing.T) { synctest.Test(t, replicasOnTheirOwnSurvive) }

func replicasOnTheirOwnSurvive(t *testing.T) {
	const steps = 20
	want := localSteps(t, refs(t, 1), Config{}, steps)
	var n atomic.Int64
	open := mayflies(t, 2, &n)
	first, _ := open(context.Background(), "")
	if got := localSteps(t, []Member{{Name: "mayfly", Device: first}}, Config{Reopen: open}, steps); got != want {
		t.Error("a device that lives for two runs: other bits")
	}
	if n.Load() <= maxLastLosses+1 {
		t.Errorf("only %d devices were opened", n.Load())
	}
	h := &hall{fate: rand.New(rand.NewPCG(3, 2)), deaths: steps, hangs: 1, calm: 60}
	var members []Member
	for i := range 3 {
		d, err := h.open()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		members = append(members, Member{Name: fmt.Sprintf("frail:%d", i), Device: d})
	}
	if got := localSteps(t, members, Config{Reopen: h.reopen, Timeout: 2 * time.Second}, steps); got != want {
		t.Error("devices that die and hang: other bits")
	}
	if h.deaths > 0 {
		t.Errorf("%d deaths did not happen", h.deaths)
	}
}
