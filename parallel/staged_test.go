package parallel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// stagedText has a norm after its product, a branch that spans layers, a dropout and an
// auxiliary head.
const stagedText = `bnctl graph 1
graph "staged"

state a.weight f32[4,2,3,3] weight he_normal(0)
state a.bn.gamma f32[4] gamma ones
state a.bn.beta f32[4] beta zeros
state a.bn.mean f32[4] mean zeros
state a.bn.variance f32[4] variance ones
state b.weight f32[4,4,3,3] weight he_normal(0)
state b.bn.gamma f32[4] gamma ones
state b.bn.beta f32[4] beta zeros
state b.bn.mean f32[4] mean zeros
state b.bn.variance f32[4] variance ones
state fc.weight f32[3,4] weight he_normal(0)
state fc.bias f32[3] bias zeros
state side.weight f32[3,4] weight he_normal(0)

func main(x rows f32[2,5,5]) {
  a = conv(x, @a.weight, pad=[1,1,1,1])
  a.bn = batch_norm(a, @a.bn.gamma, @a.bn.beta, @a.bn.mean, @a.bn.variance)
  a.relu = relu(a.bn)
  side.pool = global_avg_pool(a.relu)
  side.flat = reshape(side.pool, shape=[4])
  side = dense(side.flat, @side.weight)
  b = conv(a.relu, @b.weight, pad=[1,1,1,1])
  b.bn = batch_norm(b, @b.bn.gamma, @b.bn.beta, @b.bn.mean, @b.bn.variance)
  b.add = add(b.bn, a.relu)
  b.relu = relu(b.add)
  pool = global_avg_pool(b.relu)
  flat = reshape(pool, shape=[4])
  drop = dropout(flat, p=0.5)
  fc = dense(drop, @fc.weight, @fc.bias)
  softmax = softmax(fc)
  return probabilities rows = softmax
  return aux rows = side
}
`

// headBehind is stagedText with its auxiliary head after all predicting layers.
var headBehind = func() string {
	from, to := strings.Index(stagedText, "  side.pool ="), strings.Index(stagedText, "  b = conv")
	end := strings.Index(stagedText, "  return probabilities")
	return stagedText[:from] + stagedText[to:end] + stagedText[from:to] + stagedText[end:]
}()

// stagedModel returns a network and a program that uses everything that stages share:
// clipping by global norm, averages, an auxiliary loss.
func stagedModel(t *testing.T, mode bn.Mode) (*models.Model, *graph.Program) {
	t.Helper()
	return trainedModel(t, stagedText, mode)
}

func trainedModel(t testing.TB, text string, mode bn.Mode) (*models.Model, *graph.Program) {
	t.Helper()
	g, err := graph.ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "staged", Graph: g, State: map[string]tensor.Tensor{}}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	r := recipe.Default("staged")
	r.BN, r.Replicas, r.Batch, r.AuxWeight, r.Seed, r.ClipNorm, r.EMA = mode, 4, 8, 0.3, 5, 0.1, 0.9
	w, err := spmd.Wrap(g, spmd.Options{Replicas: r.Replicas, BN: r.BN})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := train.Trained(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := train.Program(r, g, w, trained)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// stagedBatch returns a batch in which the last replicas may be empty.
func stagedBatch(p *graph.Program, sizes []int, seed uint64) parallel.Batch {
	b := parallel.Batch{Rows: map[string]tensor.Tensor{}, Inverse: 0.125, Sizes: sizes}
	f, rows := p.Function(graph.Train), 0
	for _, n := range sizes {
		rows += n
	}
	d := tensor.NewPhilox(seed, 7).Draws(0, 0)
	for _, v := range f.Inputs {
		variable := f.Values[v]
		x := tensor.New(variable.Type.DType, variable.Type.Sized(rows, 0)...)
		switch variable.Type.DType {
		case tensor.F32:
			for i := range x.F32() {
				x.F32()[i] = float32(d.Normal())
			}
		case tensor.I32:
			for i := range x.I32() {
				x.I32()[i] = int32(i % 3)
			}
		case tensor.I64:
			for i := range x.I64() {
				x.I64()[i] = int64(i)
			}
		}
		b.Rows[variable.Name] = x
	}
	return b
}

// TestStagedTrainsAsOneDevice: losses, moments, state and predictions are bit for bit the
// same with stages and columns.
func TestStagedTrainsAsOneDevice(t *testing.T) {
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
			devices int
		}{{"2", 2}, {"3", 3}, {"2", 4}, {"b.bn", 2}, {"a.relu,fc", 3}, {"b", 6},
			{"a.relu,side.pool", 3}, {"pool,drop,softmax", 4}} { // stages without trained layers
			s, err := stage.Parse(c.stages)
			if err != nil {
				t.Fatal(err)
			}
			planned := 0
			config.Measure = c.devices < 4
			config.Divided = func(plan *stage.Plan) { planned = len(plan.Stages) }
			d, err := parallel.OpenStaged(t.Context(), m.Graph, p, s, m.State, refs(c.devices), config)
			if err != nil {
				t.Fatal(mode, c, err)
			}
			if planned < 2 {
				t.Errorf("%v: a plan of %d stages", c, planned)
			}
			for name, v := range fingerprint(t, d, p) {
				if !bytes.Equal(v, want[name]) {
					t.Errorf("%s, %v: %s has other bits than on one device", mode, c, name)
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// asked is a device that records the capacity for which its last program was loaded.
type asked struct {
	device.Device
	capacity *device.Capacity
}

func (d asked) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	*d.capacity = c
	return d.Device.Load(ctx, p, c)
}

// TestCapacityOfStages: each device receives the number of slots in use at a time, which is at most
// its number of replicas, and its total number of replicas. With synchronised batch norm all
// replicas of a device are one run.
func TestCapacityOfStages(t *testing.T) {
	flowing := func(slots, leaves int) device.Capacity {
		return device.Capacity{Rows: 2, Replicas: 1, Slots: slots, Leaves: leaves}
	}
	together := device.Capacity{Rows: 8, Replicas: 4}
	for _, c := range []struct {
		mode    bn.Mode
		stages  int
		devices int
		want    []device.Capacity
	}{
		{bn.Replica, 3, 3, []device.Capacity{flowing(4, 4), flowing(3, 4), flowing(1, 4)}},
		{bn.Frozen, 2, 4, []device.Capacity{flowing(2, 2), flowing(2, 2), flowing(1, 2), flowing(1, 2)}},
		{bn.Replica, 2, 6, []device.Capacity{flowing(2, 2), flowing(1, 1), flowing(1, 1), flowing(1, 2),
			flowing(1, 1), flowing(1, 1)}},
		{bn.Sync, 2, 2, []device.Capacity{together, together}},
	} {
		m, p := stagedModel(t, c.mode)
		members, got := refs(c.devices), make([]device.Capacity, c.devices)
		for i := range members {
			members[i].Device = asked{members[i].Device, &got[i]}
		}
		d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: c.stages}, m.State, members,
			parallel.Config{Replicas: 4, Batch: 8})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %d stages on %d devices: loaded for %+v, want %+v", c.mode, c.stages, c.devices, got,
				c.want)
		}
	}
}

// TestStageOfTheAuxiliaryHead: a stage with only the auxiliary head trains it, and is
// skipped in predictions.
func TestStageOfTheAuxiliaryHead(t *testing.T) {
	for _, mode := range []bn.Mode{bn.Replica, bn.Sync} {
		m, p := trainedModel(t, headBehind, mode)
		config := parallel.Config{Replicas: 4, Batch: 8}
		one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		want := fingerprint(t, one, p)
		d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Layers: []string{"b", "side"}}, m.State,
			refs(3), config)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for name, v := range fingerprint(t, d, p) {
			if !bytes.Equal(v, want[name]) {
				t.Errorf("%s: %s has other bits than on one device", mode, name)
			}
		}
	}
}

// fingerprint trains three steps, the last with a replica without rows, and returns all
// visible results of the run.
func fingerprint(t *testing.T, d train.Driver, p *graph.Program) map[string][]byte {
	t.Helper()
	all, err := shown(t.Context(), d, p)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// shown returns the same as fingerprint, and can be called from any goroutine.
func shown(ctx context.Context, d train.Driver, p *graph.Program) (map[string][]byte, error) {
	all := map[string][]byte{}
	for i, sizes := range [][]int{{2, 2, 2, 2}, {2, 2, 2, 1}, {2, 2, 1, 0}} {
		b := stagedBatch(p, sizes, uint64(i))
		r, err := d.Step(ctx, b)
		if err == nil {
			err = d.Commit(ctx, device.Hyper{"lr": 0.1})
		}
		if err != nil {
			return nil, err
		}
		all[fmt.Sprintf("loss of step %d", i)] = fmt.Append(nil, r.Loss, r.Correct, r.Counted)
		for k, v := range r.Moments {
			all[fmt.Sprintf("moments %d of step %d", k, i)] = v.Bytes
		}
	}
	r, err := d.Moments(ctx, stagedBatch(p, []int{2, 2, 2, 2}, 9))
	if err != nil {
		return nil, err
	}
	for k, v := range r.Moments {
		all[fmt.Sprintf("estimated moments %d", k)] = v.Bytes
	}
	out, err := d.Predict(ctx, stagedBatch(p, []int{7}, 11).Rows["x"])
	if err != nil {
		return nil, err
	}
	all["prediction"] = out[0].Bytes
	state, err := d.State(ctx)
	if err != nil {
		return nil, err
	}
	for name, v := range state {
		all["state "+name] = v.Bytes
	}
	return all, nil
}

// TestStagedLosesDevices: whichever device dies, at any of its runs, all bits are the same as on
// one device. Either the other devices of its stage take over its replicas, or all stages repeat
// the steps since the snapshot.
func TestStagedLosesDevices(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	config := parallel.Config{Replicas: 4, Batch: 8}
	one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want := fingerprint(t, one, p)
	lost := 0
	config.Lost = func(parallel.LostDevice) { lost++ }
	config.Reopen = func(_ context.Context, name string) (device.Device, error) { return ref.New(name), nil }
	for _, devices := range []int{2, 4} {
		for dies := range devices {
			for _, after := range []int32{0, 1, 5, 13, 20} {
				members, runs := refs(devices), new(atomic.Int32)
				runs.Store(after)
				members[dies].Device = mortal{members[dies].Device, runs}
				d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 2}, m.State, members, config)
				if err != nil {
					t.Fatal(err)
				}
				for name, v := range fingerprint(t, d, p) {
					if !bytes.Equal(v, want[name]) {
						t.Errorf("device %d of %d dies after %d runs: %s has other bits", dies, devices, after, name)
					}
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if lost < 15 {
		t.Errorf("%d devices were lost", lost)
	}
}

// slow is a device that needs a given time for each forward and backward run of a stage.
type slow struct {
	device.Device
	takes time.Duration
}

func (d slow) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return slowExecutable{x, d.takes}, err
}

type slowExecutable struct {
	device.Executable
	takes time.Duration
}

func (x slowExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	out, err := x.Executable.Run(ctx, s)
	if (s.Function == graph.Forward || s.Function == graph.Backward) && len(s.Rows) > 0 {
		time.Sleep(x.takes)
		out.Took += x.takes
	}
	return out, err
}

// TestStagesTellHowLongTheyWaited: with two stages and passes of 10 ms each, a step of four
// replicas lasts five times 20 ms, and each stage works for four fifths of it. If the passes of the
// second stage need only 4 ms, the first stage never waits: the previous replica returns while the
// first stage runs another replica forward. Then a step lasts 80 ms, and the second stage works for
// four times 8 ms.
func TestStagesTellHowLongTheyWaited(t *testing.T) {
	for _, c := range []struct {
		second time.Duration
		want   [2]float64
	}{{10 * time.Millisecond, [2]float64{0.2, 0.2}}, {4 * time.Millisecond, [2]float64{0, 0.6}}} {
		synctest.Test(t, func(t *testing.T) {
			m, p := stagedModel(t, bn.Replica)
			members := refs(2)
			members[0].Device = slow{members[0].Device, 10 * time.Millisecond}
			members[1].Device = slow{members[1].Device, c.second}
			var plan *stage.Plan
			d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 2}, m.State, members,
				parallel.Config{Replicas: 4, Batch: 8, Divided: func(p *stage.Plan) { plan = p }})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				if _, err := d.Step(t.Context(), stagedBatch(p, []int{2, 2, 2, 2}, uint64(i))); err != nil {
					t.Fatal(err)
				}
				if err := d.Commit(t.Context(), device.Hyper{"lr": 0.1}); err != nil {
					t.Fatal(err)
				}
			}
			times := d.Group().Times()
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				waited := times[i].Blocked.Seconds() / times[i].Took.Seconds()
				if got := plan.Stages[i].Waited; math.Abs(got-want) > 1e-6 || math.Abs(waited-want) > 1e-6 ||
					times[i].Stage != i+1 || !plan.Ran {
					t.Errorf("stage %d waited %.3f of the time, its device %+v; want %.3f", i+1, got, times[i], want)
				}
			}
		})
	}
}

// gone never opens a lost device again.
func gone(context.Context, string) (device.Device, error) { return nil, errors.New("it is gone") }

// TestStagesGoToOtherDevices: if a lost device does not come back, its stage becomes part of
// another stage, at whichever run the device dies, and the bits stay the same.
func TestStagesGoToOtherDevices(t *testing.T) {
	for _, mode := range []bn.Mode{bn.Replica, bn.Sync} {
		synctest.Test(t, func(t *testing.T) { stagesGoToOtherDevices(t, mode) })
	}
}

func stagesGoToOtherDevices(t *testing.T, mode bn.Mode) {
	m, p := stagedModel(t, mode)
	config := parallel.Config{Replicas: 4, Batch: 8}
	one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want := fingerprint(t, one, p)
	config.Reopen = gone
	for _, c := range []struct {
		devices int
		dying   []int
		runs    []int32
	}{{3, []int{0}, []int32{0, 2, 9}}, {3, []int{1}, []int32{1, 9}}, {3, []int{2}, []int32{3, 7}},
		{3, []int{0, 2}, []int32{4, 9}}, {6, []int{2, 3}, []int32{6}}} {
		for _, after := range c.runs {
			var moved []parallel.MovedStage
			config.Moved = func(e parallel.MovedStage) { moved = append(moved, e) }
			members := refs(c.devices)
			for _, i := range c.dying {
				runs := new(atomic.Int32)
				runs.Store(after)
				members[i].Device = mortal{members[i].Device, runs}
			}
			d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 3}, m.State, members, config)
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range fingerprint(t, d, p) {
				if !bytes.Equal(v, want[name]) {
					t.Errorf("%s: devices %v of %d die after %d runs: %s has other bits", mode, c.dying, c.devices, after,
						name)
				}
			}
			if len(moved) == 0 || len(moved[0].To) != c.devices/3 || moved[0].First == "" {
				t.Errorf("%s: devices %v of %d die after %d runs: moved %+v", mode, c.dying, c.devices, after, moved)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestStagesThatFitNowhereElse: the last device lacks memory for the layers of both stages.
func TestStagesThatFitNowhereElse(t *testing.T) { synctest.Test(t, stagesThatFitNowhereElse) }

func stagesThatFitNowhereElse(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	members := narrows(2, 0, func(q *graph.Program) bool { return len(q.State) == len(p.State) })
	runs := new(atomic.Int32)
	runs.Store(5)
	members[0].Device = mortal{members[0].Device, runs}
	d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 2}, m.State, members,
		parallel.Config{Replicas: 4, Batch: 8, Reopen: gone})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 {
		if _, err = d.Step(t.Context(), stagedBatch(p, []int{2, 2, 2, 2}, 1)); err != nil {
			break
		}
	}
	const want = "no other device takes the layers of stage 1: "
	if !errors.Is(err, parallel.NoDevices) || !errors.Is(err, device.OutOfMemory) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v: want %q, and that there is too little memory", err, want)
	}
}

// TestTrainingThatStagesRefuse: the error for an unsupported request explains the reason.
func TestTrainingThatStagesRefuse(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	for _, c := range []struct {
		config parallel.Config
		want   string
	}{
		{parallel.Config{Local: true}, "weight-sync: replicas with weights of their own have all layers on one device"},
		{parallel.Config{Template: true}, "weight-sync: each stage updates its own layers"},
		{parallel.Config{Placement: []int{2, 2}}, "placement: the replicas of stages are dealt to their devices alike"},
		{parallel.Config{BySpeed: true}, "placement: the replicas of stages are dealt to their devices alike"},
	} {
		c.config.Replicas, c.config.Batch = 4, 8
		_, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 2}, m.State, refs(2), c.config)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !problem.IsMisuse(err) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// growing is a device that is lost when its capacity grows.
type growing struct {
	device.Device
	left *atomic.Int32
}

func (d growing) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return growingExecutable{x, d}, err
}

type growingExecutable struct {
	device.Executable
	d growing
}

func (x growingExecutable) Grow(ctx context.Context, c device.Capacity) error {
	if x.d.left.Add(-1) == 0 {
		return device.Errorf(x.d.Info().Name, "Grow", device.Lost, "it has died")
	}
	return x.Executable.Grow(ctx, c)
}

// TestStagedLosesADeviceWhileAnotherComesBack: one of two columns is lost and comes back. The
// second column is lost while the stage forms its group again, before a run.
func TestStagedLosesADeviceWhileAnotherComesBack(t *testing.T) {
	m, p := stagedModel(t, bn.Replica)
	config := parallel.Config{Replicas: 4, Batch: 8}
	one, err := parallel.Open(t.Context(), p, m.State, refs(1), config)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want := fingerprint(t, one, p)
	config.Reopen = func(_ context.Context, name string) (device.Device, error) { return ref.New(name), nil }
	for at := range int32(4) {
		synctest.Test(t, func(t *testing.T) {
			members, runs, left := refs(4), new(atomic.Int32), new(atomic.Int32)
			runs.Store(5)
			left.Store(at)
			members[0].Device, members[1].Device = mortal{members[0].Device, runs}, growing{members[1].Device, left}
			d, err := parallel.OpenStaged(t.Context(), m.Graph, p, stage.Spec{Number: 2}, m.State, members, config)
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range fingerprint(t, d, p) {
				if !bytes.Equal(v, want[name]) {
					t.Errorf("lost at growth %d: %s has other bits", at, name)
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
