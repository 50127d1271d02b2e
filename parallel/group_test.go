package parallel

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// groupOf returns a group of members with so many replicas each.
func groupOf(c Config, counts ...int) *Group {
	g := &Group{placement: newPlacement(c, rankReplicas{count: c.Replicas})}
	for i, replicas := range ranges(counts) {
		g.members = append(g.members, &member{Member: Member{Name: fmt.Sprint("d", i)}, replicas: replicas})
	}
	return g
}

// TestDeviceOf names the device of a replica of this rank, and the rank of one of another.
func TestDeviceOf(t *testing.T) {
	g := groupOf(Config{Replicas: 3}, 1, 2)
	g.placement.ranks.counts = []int{3, 2, 1} // this is rank 0
	want := []string{"d0", "d1", "d1", "of rank 1", "of rank 1", "of rank 2", "", ""}
	for replica, name := range want {
		if got := g.DeviceOf(replica); got != name {
			t.Errorf("replica %d is on %q, want %q", replica, got, name)
		}
	}
	g.placement.ranks.first, g.placement.ranks.count = 3, 2
	if from, to := g.Replicas(); from != 3 || to != 5 {
		t.Errorf("replicas %d to %d, want 3 to 5", from, to)
	}
}

// TestSpeeds takes a device that is not measured yet for one of their mean.
func TestSpeeds(t *testing.T) {
	g := groupOf(Config{Replicas: 4}, 1, 1, 2)
	if got := g.members.speeds(); got != nil {
		t.Errorf("nothing is measured: %v", got)
	}
	g.members[0].pace.speed, g.members[2].pace.speed = 10, 40
	if got := g.members.speeds(); !slices.Equal(got, []float64{10, 25, 40}) {
		t.Errorf("speeds %v, want 10, 25, 40", got)
	}
}

// TestCapacities has room for a device's replicas, and for its even share of rows, which
// prediction gives it.
func TestCapacities(t *testing.T) {
	for _, c := range []struct {
		batch  int
		counts []int
		want   []device.Capacity
	}{
		{24, []int{4, 4}, []device.Capacity{{Rows: 12, Replicas: 4}, {Rows: 12, Replicas: 4}}},
		{24, []int{7, 1}, []device.Capacity{{Rows: 21, Replicas: 7}, {Rows: 12, Replicas: 1}}},
		{25, []int{8, 0}, []device.Capacity{{Rows: 25, Replicas: 8}, {Rows: 13, Replicas: 1}}},
		{25, []int{1, 1, 6}, []device.Capacity{{Rows: 9, Replicas: 1}, {Rows: 9, Replicas: 1},
			{Rows: 18, Replicas: 6}}},
	} {
		g := groupOf(Config{Batch: c.batch, Replicas: 8}, c.counts...)
		if got := g.placement.capacities(g.members.replicas()); !slices.Equal(got, c.want) {
			t.Errorf("batch %d on %v: %+v, want %+v", c.batch, c.counts, got, c.want)
		}
	}
}

// TestMeasured counts from one call to the next, and wants all who have replicas to have
// trained.
func TestMeasured(t *testing.T) {
	g := groupOf(Config{Replicas: 3}, 1, 2, 0)
	train := &graph.Function{Name: graph.Train}
	ran := func(rows int, took, blocked time.Duration) device.Outcome {
		return device.Outcome{Took: took, Blocked: blocked}
	}
	g.members[2].pace.speed = 7
	g.members[0].pace.add(train, Batch{Sizes: []int{6, 4, 2}}, []int{0}, ran(6, 5*time.Second, 3*time.Second))
	if _, ok := g.members.measured(); ok {
		t.Error("a device with replicas has trained nothing, and all are measured")
	}
	for i, replicas := range [][]int{{0}, {1, 2}} {
		g.members[i].pace.add(train, Batch{Sizes: []int{6, 4, 2}}, replicas, ran(6, 5*time.Second, 3*time.Second))
		predict := &graph.Function{Name: "predict"}
		g.members[i].pace.add(predict, Batch{Sizes: []int{6, 4, 2}}, replicas, ran(6, time.Hour, 0))
	}
	paces, ok := g.members.measured()
	if want := []float64{3, 3, 7}; !ok || !slices.Equal(paces, want) {
		t.Errorf("%v, %v, want %v", paces, ok, want)
	}
	g.members[0].pace.add(train, Batch{Sizes: []int{6, 4, 2}}, []int{0}, ran(6, 2*time.Second, 2*time.Second))
	g.members[1].pace.add(train, Batch{Sizes: []int{6, 4, 2}}, []int{1}, ran(4, 2*time.Second, 0))
	if _, ok := g.members.measured(); ok {
		t.Error("a device that was never busy is measured")
	}
	g.members[0].pace.add(train, Batch{Sizes: []int{0, 4, 2}}, []int{0}, ran(0, 2*time.Second, time.Second))
	g.members[1].pace.add(train, Batch{Sizes: []int{0, 4, 2}}, []int{1}, ran(4, 2*time.Second, 0))
	if _, ok := g.members.measured(); ok {
		t.Error("a device whose replica had no rows is measured")
	}
	if got := g.placement.longestShare([][]int{{0, 1}, {2}, nil}, []float64{1, 1, 1}); got != 0 {
		t.Errorf("a batch without rows takes %g s", got)
	}
	g.placement.batch = 12
	if got := g.placement.longestShare([][]int{{0, 1}, {2}, nil}, []float64{4, 1, 1}); got != 4 {
		t.Errorf("8 rows at 4 a second and 4 at 1 take %g s, want 4", got)
	}
}

// TestLedger keeps what was written before a step with its entry, and its bytes.
func TestLedger(t *testing.T) {
	four := tensor.New(tensor.F32, 4) // 16 bytes
	var l ledger
	l.begin(7, nil)
	l.write(nil)
	if l.writes != nil {
		t.Error("nothing was written, and is kept")
	}
	l.write(map[string]tensor.Tensor{"a": four})
	l.write(map[string]tensor.Tensor{"b": four})
	l.batch = Batch{Rows: map[string]tensor.Tensor{"x": four}}
	l.commit(nil)
	l.commit(nil)
	if got := slices.Sorted(maps.Keys(l.entries[0].writes)); !slices.Equal(got, []string{"a", "b"}) ||
		len(l.entries[1].writes) > 0 {
		t.Errorf("writes %v, then %v; want a and b, then none", got, l.entries[1].writes)
	}
	if l.bytes != 48+16 {
		t.Errorf("%d bytes, want 64", l.bytes)
	}
	if l.advance(1, nil); l.bytes != 16 || l.version != 8 || len(l.entries) != 1 {
		t.Errorf("after the first step: %d bytes, version %d, %d entries", l.bytes, l.version, len(l.entries))
	}
	for _, c := range []struct {
		entries, bytes int
		long           bool
	}{{ledgerSteps - 1, ledgerBytes - 1, false}, {ledgerSteps, 0, true}, {0, ledgerBytes, true}} {
		l := ledger{entries: make([]entry, c.entries), bytes: c.bytes}
		if l.long() != c.long {
			t.Errorf("%d entries of %d bytes: long is %v", c.entries, c.bytes, l.long())
		}
	}
}

// TestWithZeros completes a state.
func TestWithZeros(t *testing.T) {
	p := &graph.Program{State: []graph.State{{Name: "a", DType: tensor.F32, Shape: []int{2}},
		{Name: "b", DType: tensor.F32, Shape: []int{3}}}}
	full := withZeros(p, map[string]tensor.Tensor{"a": tensor.Of([]float32{1, 2}, 2), "c": tensor.New(tensor.F32, 1)})
	zeros := make([]float32, 3)
	if len(full) != 2 || !slices.Equal(full["a"].F32(), []float32{1, 2}) || !slices.Equal(full["b"].F32(), zeros) {
		t.Errorf("%v", full)
	}
}

// TestPlaceRefuses and a tie goes to the first.
func TestPlace(t *testing.T) {
	for _, c := range [][2]int{{3, 0}, {3, 4}} {
		if _, err := place(c[0], c[1], nil, nil); err == nil {
			t.Errorf("%d replicas on %d devices", c[0], c[1])
		}
	}
	got, err := place(3, 2, []float64{5, 5}, nil)
	if err != nil || len(got[0]) != 2 || len(got[1]) != 1 {
		t.Errorf("3 replicas on two devices that are alike: %v, %v", got, err)
	}
	if got, err := place(3, 3, nil, nil); err != nil || len(got) != 3 {
		t.Errorf("a replica each: %v, %v", got, err)
	}
}
