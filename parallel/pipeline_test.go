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

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// small is a network in which the last layer also reads the output of the first.
const small = `bnctl graph 1
graph "small"

state a.weight f32[6,4] weight he_normal(0)
state b.weight f32[6,6] weight he_normal(0)
state c.weight f32[3,6] weight he_normal(0)

func main(x rows f32[4]) {
  a = dense(x, @a.weight)
  a.relu = relu(a)
  b = dense(a.relu, @b.weight)
  b.add = add(b, a.relu)
  c = dense(b.add, @c.weight)
  return logits rows = c
  return inner rows = a.relu
}
`

func smallModel(t *testing.T) (*models.Model, *graph.Program) {
	t.Helper()
	g, err := graph.ParseGraph([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "small", Graph: g, State: map[string]tensor.Tensor{}}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	p, err := spmd.PredictProgram(g)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

func refs(n int) (list []parallel.Member) {
	for i := range n {
		name := fmt.Sprintf("ref:%d", i)
		list = append(list, parallel.Member{Name: name, Device: ref.New(name)})
	}
	return list
}

// TestPipelinePredictsAsOneDevice: stages and columns do not change a bit, in calls that
// overlap and with rows that are not a multiple of the rows of a wave.
func TestPipelinePredictsAsOneDevice(t *testing.T) {
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
		stages  string
		devices int
	}{{"2", 2}, {"3", 3}, {"2", 4}, {"b.add", 2}, {"b,c", 3}, {"auto", 1}} {
		s, err := stage.Parse(c.stages)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parallel.OpenPipeline(t.Context(), m.Graph, program, s, m.State, refs(c.devices),
			parallel.Config{Batch: 8})
		if err != nil {
			t.Fatal(c, err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				got, err := p.Predict(t.Context(), x)
				if err != nil {
					t.Error(c, err)
					return
				}
				for i := range want {
					if !bytes.Equal(got[i].Bytes, want[i].Bytes) {
						t.Errorf("%v: output %d is %v, want %v", c, i, got[i].F32(), want[i].F32())
					}
				}
			})
		}
		all.Wait()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// mortal is a device that is lost after some runs.
type mortal struct {
	device.Device
	runs *atomic.Int32 // runs before the device dies
}

func (d mortal) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return mortalExecutable{x, d}, err
}

type mortalExecutable struct {
	device.Executable
	d mortal
}

func (x mortalExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if x.d.runs.Add(-1) < 0 {
		return device.Outcome{}, device.Errorf(x.d.Info().Name, "Run", device.Lost, "it has died")
	}
	return x.Executable.Run(ctx, s)
}

// TestPipelineLosesDevices: whichever device dies, and whenever, the others run its layers,
// and the outputs are the same. If all die there is an error.
func TestPipelineLosesDevices(t *testing.T) {
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
	for _, dying := range [][]int{{0}, {1}, {2}, {0, 2}, {0, 1}, {1, 2}, {0, 1, 2}} {
		for runs := range int32(3) {
			devices, lost := refs(3), atomic.Int32{}
			for _, i := range dying {
				left := &atomic.Int32{}
				left.Store(runs)
				devices[i].Device = mortal{devices[i].Device, left}
			}
			p, err := parallel.OpenPipeline(t.Context(), m.Graph, program, stage.Spec{Number: 3}, m.State,
				devices, parallel.Config{Batch: 8, Samples: 23, Lost: func(parallel.LostDevice) { lost.Add(1) }})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Predict(t.Context(), x)
			switch {
			case len(dying) == 3:
				if !errors.Is(err, parallel.NoDevices) {
					t.Errorf("%v die: %v", dying, err)
				}
			case err != nil || !bytes.Equal(got[0].Bytes, want[0].Bytes) || int(lost.Load()) < len(dying):
				t.Errorf("%v die after %d runs: %v, %v, %d lost", dying, runs, err, got, lost.Load())
			}
			p.Close()
		}
	}
}

// TestPlanSaysWhatStagesHave: the layers, parameters and crossing values of the plan are compared
// with values that the test computes from the shapes.
func TestPlanSaysWhatStagesHave(t *testing.T) {
	m, program := smallModel(t)
	var plan *stage.Plan
	p, err := parallel.OpenPipeline(t.Context(), m.Graph, program, stage.Spec{Layers: []string{"b"}}, m.State,
		refs(4), parallel.Config{Batch: 8, Divided: func(p *stage.Plan) { plan = p }})
	if err != nil {
		t.Fatal(err)
	}
	a, b := plan.Stages[0], plan.Stages[1]
	if a.First != "a" || a.Last != "a.relu" || b.First != "b" || b.Last != "c" || b.Layers != 3 ||
		a.Parameters != 6*4 || b.Parameters != 6*6+3*6 || b.State != 4*(6*6+3*6) {
		t.Errorf("got %+v", plan)
	}
	if rows := plan.Rows; rows != 4 || a.Across != 0 || b.Across != int64(rows*6*4) {
		t.Errorf("%d rows, %d and %d bytes across, want 4 rows of 6 numbers into the second", rows, a.Across,
			b.Across)
	}
	if a.Seconds <= 0 || b.Seconds <= 0 || min(a.Idle, b.Idle) != 0 || len(a.Devices) != 2 {
		t.Errorf("times %+v", plan)
	}
	lines := plan.Lines()
	if len(lines) != 2 || !strings.Contains(lines[1], "on ref:2 and 1 other: 3 layers, b to c;") {
		t.Errorf("got %v", lines)
	}
	x, err := models.RandomInput(m, 23)
	if err == nil {
		_, err = p.Predict(t.Context(), x)
	}
	if err = errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	for s, q := range plan.Stages {
		if !plan.Ran || q.Waited <= 0 || q.Waited >= 1 {
			t.Errorf("stage %d has waited %g of the time", s+1, q.Waited)
		}
	}
}

// TestStagesThatCannotBe: each error names the place, the fault and the remedy.
func TestStagesThatCannotBe(t *testing.T) {
	m, program := smallModel(t)
	for _, c := range []struct {
		stages  string
		devices int
		want    string
	}{
		{"2", 3, "3 devices cannot be dealt to 2 stages alike"},
		{"9", 9, "the network has 5 layers"},
		{"nothing", 2, "the network has no layer of that name"},
		{"a", 2, "the first stage begins with it anyway"},
		{"c,b", 3, "it does not come behind c"},
	} {
		s, err := stage.Parse(c.stages)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parallel.OpenPipeline(t.Context(), m.Graph, program, s, m.State, refs(c.devices),
			parallel.Config{Batch: 8})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v", c, err)
		}
	}
	for _, text := range []string{"0", "-1"} {
		if _, err := stage.Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
