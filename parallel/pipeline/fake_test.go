package pipeline_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/pipeline"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// threeLayers is a network for three stages.
const threeLayers = `bnctl graph 1
graph "three"

state a.weight f32[4,2] weight he_normal(0)
state b.weight f32[4,4] weight he_normal(0)
state b.bn.gamma f32[4] gamma ones
state b.bn.beta f32[4] beta zeros
state b.bn.mean f32[4] mean zeros
state b.bn.variance f32[4] variance ones
state c.weight f32[3,4] weight he_normal(0)

func main(x rows f32[2]) {
  a = dense(x, @a.weight)
  b = dense(a, @b.weight)
  b.bn = batch_norm(b, @b.bn.gamma, @b.bn.beta, @b.bn.mean, @b.bn.variance)
  c = dense(b.bn, @c.weight)
  softmax = softmax(c)
  return probabilities rows = softmax
}
`

// program returns the network and its training program, which clips gradients by their norm.
func program(t testing.TB) (*graph.Graph, *graph.Program, map[string]tensor.Tensor) {
	t.Helper()
	g, err := graph.ParseGraph([]byte(threeLayers))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "three", Graph: g, State: map[string]tensor.Tensor{}}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	r := recipe.Default("three")
	r.BN, r.Replicas, r.Batch, r.Seed, r.ClipNorm = bn.Replica, 4, 8, 5, 0.1
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
	estimate, err := spmd.EstimateFunction(w)
	if err != nil {
		t.Fatal(err)
	}
	p.Functions = append(p.Functions, estimate)
	return g, p, m.State
}

// A fake stage computes no network. A forward run makes a number of the rows of its replica and of
// the first weights, or gets the number from the stage before, and passes it on. Each backward run
// adds the number to a sum, and a commit adds the sum to every tensor. So the state depends on the
// rows of all steps that were committed, and not on the division.

// fakeOwner opens fake stages, each with two columns.
type fakeOwner struct {
	mu     sync.Mutex
	faults []fault
	fatal  bool           // a fatal fault has occurred
	calls  map[string]int // number of calls, by stage and method
	stages map[int]*fakeStage
}

// fault is an error of a stage in a call of a method or in a run of a function. Stages and calls are
// counted from 1.
type fault struct {
	stage  int
	method string
	number int
	kind   kind
}

// kind is the effect of a fault on the stage.
type kind string

const (
	column  kind = "a column is lost"
	all     kind = "all columns are lost, and one is back at the snapshot"
	gone    kind = "all columns are lost for good"
	two     kind = "all columns of the stage and of the one after the next are lost for good"
	fatal   kind = "an error that is no loss"
	joined  kind = "a column joins, without gradients"
	follows kind = "an error that follows from the loss of another stage"
	refused kind = "the columns refuse another program"
)

// lost is the error of a run.
type lost struct{ kind kind }

func (l lost) Error() string { return string(l.kind) }

var errFatal = errors.New("planted")

func (o *fakeOwner) Devices() (devices []pipeline.Device) {
	for i := range 6 {
		devices = append(devices, pipeline.Device{Name: fmt.Sprint("fake", i),
			Info: device.Info{MemoryFree: 1 << 30, Features: []string{device.Slots}}})
	}
	return devices
}

func (o *fakeOwner) Open(_ context.Context, l pipeline.Loading) (pipeline.Stage, error) {
	s := &fakeStage{owner: o, number: l.Number, program: l.Program, replicas: l.Replicas,
		columns: []string{"one", "two"}, state: map[string]tensor.Tensor{}, tokens: map[int]uint64{}}
	s.write(l.State)
	s.snapshot = s.copy()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stages[l.Number] = s
	return s, nil
}

// fakeStage is a Stage without devices.
type fakeStage struct {
	owner              *fakeOwner
	number, replicas   int
	program            *graph.Program
	columns            []string
	version            device.Version
	retains, restarted bool
	state, snapshot    map[string]tensor.Tensor
	run                uint64
	mu                 sync.Mutex
	sum                uint64         // sum of the backward runs since Begin
	tokens             map[int]uint64 // token of each replica
}

// fault returns the kind of the fault of a call; "" if it has none.
func (s *fakeStage) fault(method string) kind {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	key := fmt.Sprint(s.number, method)
	s.owner.calls[key]++
	for _, f := range s.owner.faults {
		if f.stage == s.number && f.method == method && f.number == s.owner.calls[key] {
			s.owner.fatal = s.owner.fatal || f.kind == fatal
			return f.kind
		}
	}
	return ""
}

// suffer changes the stage as a fault does, and returns its error for the Trainer.
func (s *fakeStage) suffer(k kind) error {
	switch k {
	case column:
		s.columns = s.columns[:1]
	case all:
		s.columns, s.restarted, s.retains = s.columns[:1], true, false
		s.state = maps.Clone(s.snapshot)
	case gone, two:
		s.columns = nil
		if k == two {
			s.owner.stages[s.number+2].columns = nil
		}
		return fmt.Errorf("a fake: %w", step.NoDevices)
	case joined:
		s.retains = false
	case fatal, follows:
		return errFatal
	}
	return nil
}

func (s *fakeStage) write(state map[string]tensor.Tensor) {
	for _, t := range s.program.State {
		if v, ok := state[t.Name]; ok {
			s.state[t.Name] = v.Clone()
		} else if _, ok := s.state[t.Name]; !ok {
			s.state[t.Name] = tensor.New(t.DType, t.Shape...)
		}
	}
}

func (s *fakeStage) copy() map[string]tensor.Tensor {
	state := map[string]tensor.Tensor{}
	for name, t := range s.state {
		state[name] = t.Clone()
	}
	return state
}

func (s *fakeStage) Program() *graph.Program { return s.program }

func (s *fakeStage) Columns() (columns []pipeline.Column) {
	for i, name := range s.columns {
		c := fakeColumn{s, name, i * s.replicas / len(s.columns), (i + 1) * s.replicas / len(s.columns)}
		columns = append(columns, c)
	}
	return columns
}

func (s *fakeStage) Rows() int { return 2 * len(s.columns) }

func (s *fakeStage) Begin(context.Context) (uint64, error) {
	s.run, s.sum = s.run+1, 0
	if k := s.fault("Begin"); k != "" {
		if k == joined {
			return s.run, s.suffer(k)
		}
		return s.run, lost{k}
	}
	return s.run, nil
}

func (s *fakeStage) Call(_ pipeline.Column, f func() error) error { return f() }

func (s *fakeStage) Together(f func(i int, c pipeline.Column) error) error {
	for i, c := range s.Columns() {
		if err := f(i, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *fakeStage) Finished() {}

func (s *fakeStage) outputs(f *graph.Function, rows, replicas int) (all []tensor.Tensor) {
	for _, o := range f.Outputs {
		if !o.Keep {
			t := f.Values[o.Value].Type
			all = append(all, tensor.New(t.DType, t.Sized(rows, replicas)...))
		}
	}
	return all
}

func (s *fakeStage) Evaluate(_ context.Context, f *graph.Function, values map[string]tensor.Tensor) error {
	if err := s.suffer(s.fault("Evaluate")); err != nil {
		return err
	}
	i, outputs := 0, s.outputs(f, 0, 0)
	for _, o := range f.Outputs {
		values[o.Name] = outputs[i]
		i++
	}
	return nil
}

func (s *fakeStage) Predict(_ context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
	if err := s.suffer(s.fault("Predict")); err != nil {
		return nil, err
	}
	return s.outputs(s.program.Function(graph.Predict), in[0].Shape[0], 0), nil
}

func (s *fakeStage) Profile(context.Context, []tensor.Tensor) (device.Outcome, error) {
	return device.Outcome{}, errFatal
}

func (s *fakeStage) Computed() time.Duration { return 0 }

func (s *fakeStage) Write(_ context.Context, state map[string]tensor.Tensor) error {
	if err := s.suffer(s.fault("Write")); err != nil {
		return err
	}
	s.write(state)
	return nil
}

func (s *fakeStage) State(context.Context) (map[string]tensor.Tensor, error) {
	if err := s.suffer(s.fault("State")); err != nil {
		return nil, err
	}
	return s.copy(), nil
}

func (s *fakeStage) Snapshot(context.Context) (map[string]tensor.Tensor, error) {
	if err := s.suffer(s.fault("Snapshot")); err != nil {
		return nil, err
	}
	s.snapshot = s.copy()
	return s.copy(), nil
}

// Commit adds the sum of the runs to every tensor.
func (s *fakeStage) Commit(_ context.Context, h device.Hyper) error {
	if err := s.suffer(s.fault("Commit")); err != nil {
		return err
	}
	for name, t := range s.state {
		t = t.Clone()
		for i := range t.Bytes {
			t.Bytes[i] = 3*t.Bytes[i] + byte(s.sum>>(8*(i%8))) + byte(100*h["lr"])
		}
		s.state[name] = t
	}
	s.Skip()
	return nil
}

func (s *fakeStage) Skip()                   { s.version, s.retains = s.version+1, false }
func (s *fakeStage) Version() device.Version { return s.version }
func (s *fakeStage) Retains() bool           { return s.retains }
func (s *fakeStage) Retain()                 { s.retains = true }

func (s *fakeStage) Recover(_ context.Context, err error) error {
	var l lost
	if !errors.As(err, &l) {
		return err
	}
	return s.suffer(l.kind)
}

func (s *fakeStage) Restarted() bool { return s.restarted }

func (s *fakeStage) RollBack(v device.Version) { s.version, s.restarted, s.retains = v, false, false }

func (s *fakeStage) Reload(ctx context.Context, l pipeline.Loading, v device.Version) (
	pipeline.Stage, error) {
	if s.fault("Reload") != "" {
		return nil, errFatal
	}
	l.Replicas = s.replicas
	opened, err := s.owner.Open(ctx, l)
	d := opened.(*fakeStage)
	d.columns, d.version, d.restarted = s.columns, v, true
	return d, err
}

func (s *fakeStage) Adopt(ctx context.Context, l pipeline.Loading) (pipeline.Stage, error) {
	if s.fault("Adopt") != "" {
		return nil, errFatal
	}
	return s.owner.Open(ctx, l)
}

func (s *fakeStage) Renumber(number int) { s.number = number }

func (s *fakeStage) Close() error { return nil }

// fakeColumn is a column with the replicas [from, to).
type fakeColumn struct {
	stage    *fakeStage
	name     string
	from, to int
}

func (c fakeColumn) Name() string { return c.name }

func (c fakeColumn) Replicas() (all []int) {
	for r := c.from; r < c.to; r++ {
		all = append(all, r)
	}
	return all
}

func (c fakeColumn) Account(time.Duration, time.Duration) {}

func (c fakeColumn) Run(_ context.Context, s device.Step) (device.Outcome, error) {
	f, rows := c.stage.program.Function(s.Function), 0
	for _, n := range s.Rows {
		rows += n
	}
	if len(s.Replicas) == 0 && f.Name != graph.Reduce { // a run that only prepares the function
		return device.Outcome{Outputs: c.stage.outputs(f, 0, 0)}, nil
	}
	if k := c.stage.fault(s.Function); k != "" {
		return device.Outcome{}, lost{k}
	}
	outputs := c.stage.outputs(f, rows, max(len(s.Replicas), 1))
	c.stage.mu.Lock()
	defer c.stage.mu.Unlock()
	switch f.Name {
	case graph.Forward:
		token := c.stage.token(f, s.Inputs)
		c.stage.tokens[s.Replicas[0]] = token
		for _, out := range outputs {
			binary.LittleEndian.PutUint64(out.Bytes, token)
		}
	case graph.Backward:
		c.stage.sum += c.stage.tokens[s.Replicas[0]] * uint64(2*s.Replicas[0]+1)
	}
	return device.Outcome{Outputs: outputs, Took: 2, Blocked: 1}, nil
}

// token returns the number of the rows of a forward run.
func (s *fakeStage) token(f *graph.Function, inputs []tensor.Tensor) uint64 {
	for i, v := range s.program.Given(f) {
		switch name := f.Values[v].Name; {
		case name == "x":
			h := fnv.New64()
			h.Write(inputs[i].Bytes)
			h.Write(s.state["a.weight"].Bytes)
			return h.Sum64()
		case stage.Across(name):
			return binary.LittleEndian.Uint64(inputs[i].Bytes)
		}
	}
	return 0
}

// same reports whether two states are equal.
func same(a, b map[string]tensor.Tensor) bool {
	return maps.EqualFunc(a, b, func(x, y tensor.Tensor) bool { return slices.Equal(x.Bytes, y.Bytes) })
}
