package parallel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/internal/placement"
)

// groupOf returns a group of members; counts is the number of replicas of each.
func groupOf(c Config, counts ...int) *Group {
	g := &Group{placement: placement.New(placement.SingleProcess(c.Replicas), c.Placement, c.Batch, c.Replicas)}
	for i, replicas := range placement.Ranges(counts) {
		g.members = append(g.members, &member{Member: Member{Name: fmt.Sprint("d", i)}, replicas: replicas})
	}
	return g
}

// ranksOn returns the ranks of a run as one of the ranks sees them.
func ranksOn(t *testing.T, replicas, rank, ranks int) placement.Ranks {
	t.Helper()
	r, err := placement.NewRanks(replicas, rank, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDeviceOf: a replica of this rank yields a device, any other replica yields its rank.
func TestDeviceOf(t *testing.T) {
	g := groupOf(Config{Replicas: 3}, 1, 2)
	g.placement = placement.New(ranksOn(t, 7, 0, 3), nil, 7, 7) // replicas of the ranks: 3, 2, 2; this is rank 0
	want := []string{"d0", "d1", "d1", "of rank 1", "of rank 1", "of rank 2", "of rank 2", ""}
	for replica, name := range want {
		if got := g.DeviceOf(replica); got != name {
			t.Errorf("replica %d is on %q, want %q", replica, got, name)
		}
	}
	g.placement = placement.New(ranksOn(t, 7, 1, 3), nil, 7, 7)
	if from, to := g.Replicas(); from != 3 || to != 5 {
		t.Errorf("replicas %d to %d, want 3 to 5", from, to)
	}
}

// The replicas of a rank follow the replicas of the previous ranks, on any of its devices.
func TestReplicasOfARank(t *testing.T) {
	for _, counts := range [][]int{nil, {2, 1}} {
		p := placement.New(ranksOn(t, 6, 1, 2), counts, 12, 6)
		ranges, err := p.Ranges(nil, []int{1, 1})
		if want := [][]int{{3, 4}, {5}}; err != nil || fmt.Sprint(ranges) != fmt.Sprint(want) {
			t.Errorf("placement %v: %v, %v, want %v", counts, ranges, err, want)
		}
	}
}

// The first error by rank is returned; a member that was called off counts only if there
// are no other errors.
func TestWhichErrorIsTold(t *testing.T) {
	off, also := device.Errorf("d", "Run", device.Aborted, "off"), fmt.Errorf("%w: by another", collective.Aborted)
	second := errors.New("second")
	for _, c := range []struct {
		errs []error
		want error
		by   string
	}{
		{[]error{nil, nil, nil}, nil, ""}, {[]error{off, nil, errPlanted}, errPlanted, "m2: "},
		{[]error{also, errPlanted, second}, errPlanted, "m1: "}, {[]error{nil, off, nil}, off, ""},
		{[]error{nil, also, nil}, also, ""}, {[]error{off, also, nil}, also, ""},
	} {
		ms := watched(3)
		for i := range ms {
			ms[i].Name = fmt.Sprint("m", i)
		}
		err := ms.each(func(rank int, _ *member) error { return c.errs[rank] })
		if !errors.Is(err, c.want) || err != nil && !strings.HasPrefix(err.Error(), c.by) {
			t.Errorf("%v: %v, want %s%v", c.errs, err, c.by, c.want)
		}
	}
}

// A group is mixed if two of its devices have different kernel classes.
func TestMixed(t *testing.T) {
	for _, c := range []struct {
		kernels string
		want    bool
	}{{"a", false}, {"aa", false}, {"ab", true}, {"aba", true}, {"abb", true}, {"aab", true}} {
		var devices []Member
		for _, k := range c.kernels {
			devices = append(devices, Member{Device: stated{info: device.Info{Kernels: string(k)}}})
		}
		g, err := newGroup(devices, Config{Replicas: 3, Batch: 3})
		if err != nil || g.mixed != c.want {
			t.Errorf("%s: mixed is %v, %v", c.kernels, g.mixed, err)
		}
	}
}

// A member that is still running when another has finished is given up after the timeout. The
// duration of a run is known afterwards, unless the run failed.
func TestRunsAreTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := opened(t, refs(t, 2), Config{Timeout: 20 * time.Second}).group
		began := time.Now()
		err := g.runTogether(func(rank int, m *member, _ *watchdog) error {
			for range 100 * rank {
				if m.hung.Load() {
					return errPlanted
				}
				time.Sleep(time.Second)
			}
			return nil
		})
		var l *lost
		if took := time.Since(began); !errors.As(err, &l) || l.member != g.members[1] || took > 25*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		if g.timeouts.longest != 0 || !g.stale {
			t.Errorf("a run that failed took %v, a new group is needed: %v", g.timeouts.longest, g.stale)
		}
		for _, d := range []time.Duration{3 * time.Second, time.Second} {
			if err := g.runTogether(func(int, *member, *watchdog) error {
				time.Sleep(d)
				return nil
			}); err != nil || g.timeouts.longest != 3*time.Second {
				t.Errorf("a run of %v: longest %v, %v", d, g.timeouts.longest, err)
			}
		}
	})
}

// A call that does not wait for other devices may last ten times the longest step beyond
// the timeout. Loading may last at least a minute, whatever the steps need.
func TestTimeoutsOfCalls(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		timeouts timeouts
		load     bool
		may      time.Duration
	}{
		{timeouts{timeout: 5 * s}, false, 5 * s}, {timeouts{timeout: 5 * s, longest: 2 * s}, false, 25 * s},
		{timeouts{timeout: 5 * s, longest: 200 * s}, true, 60 * s}, {timeouts{timeout: 90 * s}, true, 90 * s},
	} {
		for _, overdue := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				m, f := &member{Member: Member{Name: "slow", Device: &closing{}}}, c.timeouts.call
				if c.load {
					f = c.timeouts.load
				}
				err := f(m, func() error {
					time.Sleep(c.may - s/2)
					if overdue {
						time.Sleep(s)
						return errPlanted
					}
					return nil
				})
				time.Sleep(1000 * s) // a member must not be given up after its call
				synctest.Wait()
				var l *lost
				closed := m.Device.(*closing).closed == 1
				if errors.As(err, &l) != overdue || m.hung.Load() != overdue || closed != overdue {
					t.Errorf("%+v: late %v: %v, closed %d times", c, overdue, err, m.Device.(*closing).closed)
				}
				said := err != nil && strings.Contains(err.Error(), "within "+c.may.String())
				if overdue && (!errors.Is(err, device.Lost) || !said) {
					t.Errorf("%+v: %v", c, err)
				}
			})
		}
	}
}

// mark marks a device as lost if the error has the kind Lost, or if the device lacks memory for work that it
// has done before.
func TestWhatIsALoss(t *testing.T) {
	m, l := &member{}, &timeouts{}
	full, gone := device.Errorf("d", "Run", device.OutOfMemory, "full"), device.Errorf("d", "Run", device.Lost, "gone")
	for _, c := range []struct {
		err            error
		atWork, atLoad bool
	}{{nil, false, false}, {errPlanted, false, false}, {full, true, false}, {gone, true, true}} {
		var is *lost
		for i, err := range []error{l.mark(m, c.err), l.markGone(m, c.err)} {
			if want := []bool{c.atWork, c.atLoad}[i]; errors.As(err, &is) != want || !errors.Is(err, c.err) {
				t.Errorf("%v, loading %d: %v", c.err, i, err)
			}
			if c.err != nil && err.Error() != c.err.Error() {
				t.Errorf("%v, want %v", err, c.err)
			}
		}
	}
}

// TestSpeeds: a device without a measurement counts as a device of mean speed.
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

// TestCapacities: a capacity covers a device's replicas, and its even share of rows in a
// prediction.
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
		if got := g.placement.Capacities(g.members.replicas()); !slices.Equal(got, c.want) {
			t.Errorf("batch %d on %v: %+v, want %+v", c.batch, c.counts, got, c.want)
		}
	}
}

// TestMeasured: a measurement lasts from one call of measured to the next, and all members with
// replicas must have trained.
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
	g.members[2].pace.speed = 0
	for i, replicas := range [][]int{{0}, {1, 2}} {
		g.members[i].pace.add(train, Batch{Sizes: []int{6, 4, 2}}, replicas, ran(6, 5*time.Second, 3*time.Second))
	}
	if paces, ok := g.members.measured(); ok {
		t.Errorf("a device that never had a replica is measured: %v", paces)
	}
	if got := g.placement.LongestShare([][]int{{0, 1}, {2}, nil}, []float64{1, 1, 1}); got != 0 {
		t.Errorf("a batch without rows takes %g s", got)
	}
	g.placement = placement.New(placement.SingleProcess(3), nil, 12, 3)
	if got := g.placement.LongestShare([][]int{{0, 1}, {2}, nil}, []float64{4, 1, 1}); got != 4 {
		t.Errorf("8 rows at 4 a second and 4 at 1 take %g s, want 4", got)
	}
}

// TestPlace: the first device gets the replica in a tie.
func TestPlace(t *testing.T) {
	for _, c := range [][2]int{{3, 0}, {3, 4}} {
		if _, err := placement.BySpeed(c[0], c[1], nil, nil); err == nil {
			t.Errorf("%d replicas on %d devices", c[0], c[1])
		}
	}
	got, err := placement.BySpeed(3, 2, []float64{5, 5}, nil)
	if err != nil || len(got[0]) != 2 || len(got[1]) != 1 {
		t.Errorf("3 replicas on two devices that are alike: %v, %v", got, err)
	}
	if got, err := placement.BySpeed(3, 3, nil, nil); err != nil || len(got) != 3 {
		t.Errorf("a replica each: %v, %v", got, err)
	}
}

// The number of ranks may equal the number of replicas.
func TestAsManyRanksAsReplicas(t *testing.T) {
	said, err := onRanks(3, func(p *fabric.Peers) (string, error) {
		r, err := ranksOf(Config{Peers: p, Replicas: 3})
		return fmt.Sprint(r.Range()), err
	})
	if want := []string{"0 1", "1 2", "2 3"}; err != nil || !slices.Equal(said, want) {
		t.Errorf("%v, %v", said, err)
	}
}
