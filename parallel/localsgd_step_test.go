package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/tensor"
)

// ownBatch returns 13 rows for five replicas, 4, 4, 4, 1 and 0, each with a separate
// denominator.
func ownBatch() Batch {
	b := batchOf(13, 5, Pad, 20)
	b.Inverses = []float32{0.25, 0.125, 0.5, 1, 1}
	return b
}

// openLocal opens replicas with separate weights.
func openLocal(t *testing.T, m *models.Model, members []Member, c Config) *Driver {
	t.Helper()
	c.Local = true
	p := program(t, m, spmd.Options{Replicas: 5, BN: bn.Replica})
	d, err := Open(t.Context(), p, m.State, members, withSizes(c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Each replica equals a separate model trained on its rows; a step reports all replicas.
func TestReplicasAreModelsOfTheirOwn(t *testing.T) {
	m, b := small(t), ownBatch()
	l := weightsync.NewLocalSGD(openLocal(t, m, refs(t, 2), Config{}).OneByOne(), m.State)
	var alone []*Driver // replica r
	for range b.Sizes {
		d, err := Open(t.Context(), program(t, m, spmd.Options{Replicas: 1, BN: bn.Replica}), m.State, refs(t, 1),
			Config{Replicas: 1, Batch: 20})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		alone = append(alone, d)
	}
	before := l.State()
	for step := range 2 {
		r, err := l.Step(t.Context(), b, device.Hyper{"lr": 0.1})
		if err != nil {
			t.Fatal(err)
		}
		loss, correct, counted, from := 0.0, 0.0, 0.0, 0
		for i, n := range b.Sizes {
			want := make([]float64, r.Moments[0].Shape[1])
			if n > 0 {
				rows := map[string]tensor.Tensor{"x": b.Rows["x"].Rows(from, from+n),
					losses.InputLabels: b.Rows[losses.InputLabels].Rows(from, from+n)}
				one := Batch{Rows: rows, Inverse: b.Inverses[i], Sizes: []int{n}}
				s, err := alone[i].Step(t.Context(), one)
				if err == nil {
					err = alone[i].Commit(t.Context(), device.Hyper{"lr": 0.1})
				}
				if err != nil {
					t.Fatal(err)
				}
				loss, correct, counted, want = loss+s.Loss, correct+s.Correct, counted+s.Counted, s.Moments[0].F64()
			}
			if got := r.Moments[0].Rows(i, i+1).F64(); r.Moments[0].Shape[0] != 5 || !slices.Equal(got, want) {
				t.Errorf("step %d: replica %d of %d has other moments than alone", step, i, r.Moments[0].Shape[0])
			}
			from += n
		}
		if math.Abs(r.Loss-loss) > 1e-12*loss || r.Correct != correct || r.Counted != counted || counted != 13 {
			t.Errorf("step %d: %+v, want %v, %v, %v", step, r, loss, correct, counted)
		}
		l.Commit()
	}
	if after := l.State(); tensor.Equal(after["fc1.weight"], before["fc1.weight"]) {
		t.Error("the average is that of the start")
	}
	for i, replicaTensors := range l.ReplicaStates() {
		want, err := alone[i].State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range replicaTensors {
			if !tensor.Equal(got, want[name]) {
				t.Errorf("%s of replica %d is another than alone", name, i)
			}
		}
	}
}

// The time of a step is the time of a device that runs its replicas one after the other.
func TestTimingOfReplicas(t *testing.T) {
	m := small(t)
	d := openLocal(t, m, pacedRefs(t, time.Millisecond, time.Millisecond), Config{})
	l := weightsync.NewLocalSGD(d.OneByOne(), m.State)
	r, err := l.Step(t.Context(), ownBatch(), device.Hyper{"lr": 0.1})
	if want := 2*time.Second + 6500*time.Microsecond; err != nil || r.Timing.Took != want {
		t.Errorf("%v, %v, want %v", r.Timing.Took, err, want)
	}
}

// An error of a device, at any call, is the error of the step.
func TestNoErrorOfReplicasIsPassedOver(t *testing.T) {
	m := small(t)
	callsOf(t, 1, false, func(member Member, _ int64) error {
		d, err := Open(t.Context(), program(t, m, spmd.Options{Replicas: 5, BN: bn.Replica}), m.State,
			[]Member{member}, withSizes(Config{Local: true}))
		if err != nil {
			return err
		}
		defer d.Close()
		l := weightsync.NewLocalSGD(d.OneByOne(), m.State)
		for range 2 {
			if _, err := l.Step(t.Context(), ownBatch(), device.Hyper{"lr": 0.1}); err != nil {
				return err
			}
			l.Commit()
		}
		_, err = l.DryRun(t.Context(), ownBatch())
		return err
	})
}

// An update that is not finite is reported with its replica, and its step is discarded.
func TestUpdateOfAReplicaThatIsNotFinite(t *testing.T) {
	for _, blind := range []bool{false, true} {
		m := small(t)
		members := refs(t, 1)
		if blind {
			members[0].Device = careless{tellers(members)[0]}
		}
		l := weightsync.NewLocalSGD(openLocal(t, m, members, Config{}).OneByOne(), m.State)
		_, err := l.Step(t.Context(), ownBatch(), device.Hyper{"lr": float32(math.Inf(1))})
		if !errors.Is(err, device.NonFinite) || !strings.Contains(err.Error(), "replica 0: ") {
			t.Errorf("it does not look: %v: %v", blind, err)
		}
		l.Commit()
		for name, got := range l.State() {
			if !tensor.Equal(got, m.State[name]) {
				t.Errorf("it does not look: %v: %s has changed", blind, name)
			}
		}
	}
}

// ending is a device that ends a context in its runs.
type ending struct {
	device.Device
	end func()
}

func (e ending) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := e.Device.Load(ctx, p, c)
	return endingExe{exe, e.end}, err
}

type endingExe struct {
	device.Executable
	end func()
}

func (e endingExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	out, err := e.Executable.Run(ctx, s)
	e.end()
	return out, err
}

// A context that ends while a replica is computed does not stop its update halfway.
func TestUpdateOfAReplicaGoesToItsEnd(t *testing.T) {
	m := small(t)
	ctx, end := context.WithCancel(t.Context())
	members := refs(t, 1)
	devices := tellers(members)
	members[0].Device = ending{devices[0], end}
	l := weightsync.NewLocalSGD(openLocal(t, m, members, Config{}).OneByOne(), m.State)
	devices[0].text()
	_, err := l.Step(ctx, ownBatch(), device.Hyper{"lr": 0.1})
	_, updated := stateOf(t)
	if err == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context has ended", err)
	}
	say(t, "Step", devices, fmt.Sprintf("write %d, train 1 [4], commit 0, read x%[1]d, write %[1]d", updated))
}

// sleepy is a device that needs ten seconds for a run.
type sleepy struct{ device.Device }

func (s sleepy) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := s.Device.Load(ctx, p, c)
	return sleepyExe{exe}, err
}

type sleepyExe struct{ device.Executable }

func (e sleepyExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	time.Sleep(10 * time.Second)
	return e.Executable.Run(ctx, s)
}

// A device with several replicas is not given up while it finishes them one after the other.
func TestReplicasAreProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, members := small(t), refs(t, 2)
		for i := range members {
			members[i].Device = sleepy{members[i].Device}
		}
		d := openLocal(t, m, members, Config{Placement: []int{1, 4}, Timeout: 15 * time.Second,
			Lost: func(e LostDevice) { t.Errorf("%s is lost: %v", e.Device, e.Reason) }})
		l := weightsync.NewLocalSGD(d.OneByOne(), m.State)
		if _, err := l.Step(t.Context(), ownBatch(), device.Hyper{"lr": 0.1}); err != nil {
			t.Error(err)
		}
	})
}
