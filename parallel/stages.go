package parallel

import (
	"context"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/internal/placement"
	"github.com/bnctl/bnctl/parallel/pipeline"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Package pipeline runs a network that is divided into stages. It opens the stages through an owner and runs
// each through the interface Stage:
//
//	Staged, Pipeline      what callers use              pipeline.Trainer, pipeline.Predictor
//	owner                 opens Drivers on members      pipeline.Owner
//	stageDriver           a Driver with some layers     pipeline.Stage
//	column                a member of a Driver          pipeline.Column

// oneByOne makes the callbacks of a config run one at a time, because stages recover concurrently.
func oneByOne(c Config) Config {
	var mu sync.Mutex
	if lost := c.Lost; lost != nil {
		c.Lost = func(e LostDevice) {
			mu.Lock()
			defer mu.Unlock()
			lost(e)
		}
	}
	if back := c.Back; back != nil {
		c.Back = func(e RejoinedDevice) {
			mu.Lock()
			defer mu.Unlock()
			back(e)
		}
	}
	return c
}

// checkStaged rejects a config that stages do not support.
func checkStaged(c Config) error {
	switch {
	case c.Local:
		return problem.New("weight-sync", "", "replicas with weights of their own have all layers on one device",
			"use {weight-sync} allreduce")
	case c.Placement != nil || c.BySpeed:
		return problem.New("placement", "", "the replicas of stages are dealt to their devices alike",
			"leave it out")
	case c.Template:
		return problem.New("weight-sync", "", "each stage updates its own layers",
			"use {weight-sync} allreduce, which has the same bits")
	}
	return nil
}

// Staged trains a network that is divided into stages on several devices. It has the
// methods of a Driver, and the same results, bit for bit.
type Staged struct{ trainer *pipeline.Trainer }

// OpenStaged loads the stages of p, a training program made from template, and writes the
// state. The devices are assigned to the stages in order. The rest is the same as for Open.
func OpenStaged(ctx context.Context, template *graph.Graph, p *graph.Program, spec stage.Spec,
	state map[string]tensor.Tensor, devices []Member, c Config) (*Staged, error) {
	if err := checkStaged(c); err != nil {
		return nil, err
	}
	t, err := pipeline.OpenTrainer(ctx, template, p, spec, state, newOwner(devices, oneByOne(c)), c.pipeline())
	if err != nil {
		return nil, err
	}
	return &Staged{t}, nil
}

// Step does the same as Driver.Step.
func (s *Staged) Step(ctx context.Context, b Batch) (Result, error) { return s.trainer.Step(ctx, b) }

// Moments does the same as Driver.Moments.
func (s *Staged) Moments(ctx context.Context, b Batch) (Result, error) {
	return s.trainer.Moments(ctx, b)
}

// Commit does the same as Driver.Commit.
func (s *Staged) Commit(ctx context.Context, h device.Hyper) error { return s.trainer.Commit(ctx, h) }

// Predict does the same as Driver.Predict.
func (s *Staged) Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	return s.trainer.Predict(ctx, x)
}

// Rows does the same as Driver.Rows.
func (s *Staged) Rows() int { return s.trainer.Rows() }

// OwnRows does the same as Pipeline.OwnRows.
func (s *Staged) OwnRows(rows int) (from, to int) { return s.trainer.OwnRows(rows) }

// Write sets state tensors.
func (s *Staged) Write(ctx context.Context, state map[string]tensor.Tensor) error {
	return s.trainer.Write(ctx, state)
}

// State reads all state.
func (s *Staged) State(ctx context.Context) (map[string]tensor.Tensor, error) {
	return s.trainer.State(ctx)
}

// Snapshot reads all state and begins a new ledger with it. If a stage loses all of its
// devices, all stages repeat the steps since then.
func (s *Staged) Snapshot(ctx context.Context) (map[string]tensor.Tensor, error) {
	return s.trainer.Snapshot(ctx)
}

// SnapshotDue does the same as Driver.SnapshotDue.
func (s *Staged) SnapshotDue() bool { return s.trainer.SnapshotDue() }

// Version counts the commits since OpenStaged.
func (s *Staged) Version() device.Version { return s.trainer.Version() }

// Group returns the participating devices of this process, the first stage first.
func (s *Staged) Group() *Group {
	g, stages := &Group{placement: placement.Placement{}, fixed: true}, s.trainer.Stages()
	if from, to := s.OwnRows(1); from < to {
		g.placement = stages[0].(*stageDriver).group.placement
	}
	for _, d := range stages {
		g.members = append(g.members, d.(*stageDriver).group.members...)
	}
	return g
}

// Close frees everything that OpenStaged has loaded.
func (s *Staged) Close() error { return s.trainer.Close() }

// Pipeline predicts with a network that is divided into stages on several devices. It has
// the methods of a Driver of the undivided program, and the same results.
type Pipeline = pipeline.Predictor

// OpenPipeline loads p, a program that predicts with a template, on devices. It divides p
// into the requested stages and assigns the devices to them in order. c.Batch is the number
// of rows in all stages at once.
func OpenPipeline(ctx context.Context, template *graph.Graph, p *graph.Program, spec stage.Spec,
	state map[string]tensor.Tensor, devices []Member, c Config) (*Pipeline, error) {
	return pipeline.OpenPredictor(ctx, template, p, spec, state, newOwner(devices, c), c.pipeline())
}

// pipeline returns the part of a configuration that is for all stages together.
func (c *Config) pipeline() pipeline.Config {
	return pipeline.Config{Replicas: c.Replicas, Batch: c.Batch, Samples: c.Samples, Peers: c.Peers,
		Reopens: c.Reopen != nil, Recomputing: c.Recomputing, Divided: c.Divided, Measure: c.Measure,
		Moved: c.Moved}
}

// owner opens stages on some devices.
type owner struct {
	devices []Member
	config  Config // configuration of each stage
}

func newOwner(devices []Member, c Config) *owner {
	c.Joins, c.Peers, c.Referee = nil, nil, nil
	return &owner{devices, c}
}

// Devices implements pipeline.Owner.
func (o *owner) Devices() (list []pipeline.Device) {
	for _, m := range o.devices {
		list = append(list, pipeline.Device{Name: m.Name, Info: m.Device.Info()})
	}
	return list
}

// Open implements pipeline.Owner.
func (o *owner) Open(ctx context.Context, l pipeline.Loading) (pipeline.Stage, error) {
	c := o.config
	c.Replicas, c.Batch, c.flows, c.stage, c.slots = l.Replicas, l.Batch, l.OneByOne, l.Number, l.Slots
	return openStage(ctx, l, o.devices[l.From:l.To], c)
}

// openStage opens the Driver of a stage.
func openStage(ctx context.Context, l pipeline.Loading, devices []Member, c Config) (pipeline.Stage, error) {
	d, err := Open(ctx, l.Program, l.State, devices, c)
	if err != nil {
		return nil, err
	}
	d.config.Reopen = nil // one ledger serves all stages
	return (*stageDriver)(d), nil
}

// stageDriver is a Driver that has some of the layers.
type stageDriver Driver

func (s *stageDriver) driver() *Driver { return (*Driver)(s) }

// column is a member of a stage.
type column member

func (c *column) Name() string    { return c.Member.Name }
func (c *column) Replicas() []int { return c.replicas }

func (c *column) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	return c.exe.Run(ctx, s)
}

func (c *column) Account(took, waited time.Duration) {
	c.pace.took, c.pace.blocked = c.pace.took+took, c.pace.blocked+waited
}

// These are the methods of pipeline.Computation.

func (s *stageDriver) Program() *graph.Program { return s.program.current }

func (s *stageDriver) Columns() []pipeline.Column {
	all := make([]pipeline.Column, len(s.group.members))
	for i, m := range s.group.members {
		all[i] = (*column)(m)
	}
	return all
}

func (s *stageDriver) Rows() int { return s.driver().Rows() }

func (s *stageDriver) Begin(ctx context.Context) (run uint64, err error) {
	err = s.driver().begin(ctx)
	return s.group.runs, err
}

func (s *stageDriver) Call(c pipeline.Column, f func() error) error {
	m := (*member)(c.(*column))
	if err := s.group.timeouts.call(m, f); err != nil {
		return m.named(err)
	}
	return nil
}

func (s *stageDriver) Together(f func(i int, c pipeline.Column) error) error {
	return s.group.runTogether(func(rank int, m *member, _ *watchdog) error { return f(rank, (*column)(m)) })
}

func (s *stageDriver) Finished() {
	s.recovery.progressed()
	for _, m := range s.group.members {
		m.steps++
	}
}

func (s *stageDriver) Predict(ctx context.Context, inputs []tensor.Tensor) ([]tensor.Tensor, error) {
	return s.driver().predictHere(ctx, graph.Predict, inputs)
}

func (s *stageDriver) Profile(ctx context.Context, inputs []tensor.Tensor) (device.Outcome, error) {
	return s.driver().profile(ctx, inputs)
}

func (s *stageDriver) Computed() time.Duration { return s.computed }

// Evaluate runs a function of whole values on the first member and adds its outputs to
// values.
func (s *stageDriver) Evaluate(ctx context.Context, f *graph.Function,
	values map[string]tensor.Tensor) error {
	d := s.driver()
	for {
		m := d.group.members[0]
		step := device.Step{Function: f.Name, Number: d.group.runs}
		for _, v := range d.program.current.Given(f) {
			step.Inputs = append(step.Inputs, values[f.Values[v].Name])
		}
		var out device.Outcome
		err := d.group.timeouts.call(m, func() (err error) {
			out, err = m.exe.Run(ctx, step)
			return err
		})
		if err == nil {
			for i, o := range f.Outputs {
				values[o.Name] = out.Outputs[i]
			}
			return nil
		}
		if err := d.recovery.replaceLost(ctx, err); err != nil {
			return err
		}
	}
}

// These are the methods of pipeline.State.

func (s *stageDriver) Write(ctx context.Context, state map[string]tensor.Tensor) error {
	return s.driver().Write(ctx, state)
}

func (s *stageDriver) State(ctx context.Context) (map[string]tensor.Tensor, error) {
	return s.driver().State(ctx)
}

func (s *stageDriver) Snapshot(ctx context.Context) (map[string]tensor.Tensor, error) {
	return s.driver().Snapshot(ctx)
}

func (s *stageDriver) Commit(ctx context.Context, h device.Hyper) error {
	return s.driver().Commit(ctx, h)
}

func (s *stageDriver) Skip() { s.version, s.stepped, s.retained = s.version+1, false, false }

func (s *stageDriver) Version() device.Version { return s.version }
func (s *stageDriver) Retains() bool           { return s.retained }
func (s *stageDriver) Retain()                 { s.retained = true }

// These are the methods of pipeline.Recovery.

func (s *stageDriver) Recover(ctx context.Context, err error) error {
	return s.recovery.after(ctx, err)
}

func (s *stageDriver) Restarted() bool { return s.recovery.restarted }

// RollBack implements pipeline.Stage. The executable of a device that came back has not committed
// since it was loaded; the executables of the other devices have.
func (s *stageDriver) RollBack(v device.Version) {
	for _, m := range s.group.members {
		if m.base -= s.version - v; s.recovery.restarted {
			m.base = v
		}
		m.written, m.verified = 0, v
	}
	s.recovery.restarted, s.version, s.stepped, s.retained = false, v, false, false
}

// Reload implements pipeline.Stage.
func (s *stageDriver) Reload(ctx context.Context, l pipeline.Loading, v device.Version) (
	pipeline.Stage, error) {
	c, reopener := s.recovery.config, &s.recovery.reopener
	reopened := reopener.devices
	reopener.devices = nil // the devices stay open
	if err := s.Close(); err != nil {
		return nil, err
	}
	c.stage, c.slots = l.Number, l.Slots
	opened, err := openStage(ctx, l, s.devices(), c)
	if err != nil {
		reopener.devices = reopened
		return nil, err
	}
	d := opened.(*stageDriver)
	d.recovery.reopener.devices = append(d.recovery.reopener.devices, reopened...)
	d.ledger.Begin(v, l.State)
	d.version, d.recovery.restarted = v, true
	for _, m := range d.group.members {
		m.base, m.verified = v, v
	}
	return d, nil
}

// Adopt implements pipeline.Stage.
func (s *stageDriver) Adopt(ctx context.Context, l pipeline.Loading) (pipeline.Stage, error) {
	c, devices := s.recovery.config, s.devices()
	c.Replicas, c.Reopen = len(devices), nil
	c.Batch = max(c.Batch, c.Replicas)
	return openStage(ctx, l, devices, c)
}

// devices returns the present devices.
func (s *stageDriver) devices() (list []Member) {
	for _, m := range s.group.members {
		list = append(list, m.Member)
	}
	return list
}

func (s *stageDriver) Renumber(number int) {
	for _, m := range s.group.members {
		m.stage = number
	}
}

func (s *stageDriver) Close() error { return s.driver().Close() }
