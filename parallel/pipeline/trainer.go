package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Trainer trains a network that is divided into stages on several devices. The results are the same as on
// one device, bit for bit. Its methods are called by one goroutine.
type Trainer struct {
	predictor  *Predictor // pipeline of the same stages; for prediction
	config     Config
	program    *graph.Program   // program of all layers
	programs   []*graph.Program // programs of the stages
	rows       int              // maximum number of rows of a wave
	waves      int              // number of waves of a step
	joint      bool             // all replicas of a column are one run
	version    device.Version
	stepped    bool
	state      state                // state of the call in progress
	observe    func(from, to state) // called for every transition; nil except in tests
	ledger     *step.Ledger
	unstaged   map[string]tensor.Tensor // state that is not in any stage
	err        error                    // error of a Commit that was not finite; the state is lost
	owner      Owner
	loading    Loading            // fields that are the same for all stages
	ranks      *stageRanks        // nil: all stages are in this process
	first      int                // number of stages before those of this rank
	routes     map[passes]*routes // values that cross between ranks
	rolledBack bool               // a stage on any rank is at the snapshot of the ledger
	lacking    bool               // a stage lacks the gradients of the last step
	division   *stage.Division
	times      []float64 // times of the layers, estimated or measured
	plan       *stage.Plan
	worked     []time.Duration // time of each stage in all steps, as the mean of its devices
	stepping   time.Duration   // duration of these steps
	updating   time.Duration   // duration of the updates of these steps
	steps      int             // number of these steps
	cold       bool            // the times above include only the first step
}

// OpenTrainer loads the stages of p, a training program made from template, and writes the state.
// The devices are assigned to the stages in order. Otherwise it does the same as Open.
func OpenTrainer(ctx context.Context, template *graph.Graph, p *graph.Program, spec stage.Spec,
	state map[string]tensor.Tensor, owner Owner, c Config) (s *Trainer, err error) {
	ranks, err := newStageRanks(ctx, c, owner)
	if err != nil {
		return nil, err
	}
	if ranks != nil {
		spec.Least, c.Measure = max(spec.Least, len(ranks.devices)), ranks.measure
	}
	open := func(spec stage.Spec) (stages int, err error) {
		s, stages, err = openTrainer(ctx, template, p, spec, state, owner, c, ranks)
		return stages, err
	}
	if err = withMoreStages(spec, open); c.Recomputing == nil || !errors.Is(err, device.OutOfMemory) {
		return s, err
	}
	if p, err = c.Recomputing(); err != nil {
		return nil, err
	}
	c.Recomputing = nil
	return s, withMoreStages(spec, open)
}

// openTrainer does the same as OpenTrainer, with a minimum number of stages. It returns the number of
// stages.
func openTrainer(ctx context.Context, template *graph.Graph, p *graph.Program, spec stage.Spec,
	state map[string]tensor.Tensor, owner Owner, c Config, ranks *stageRanks) (*Trainer, int, error) {
	n, err := stage.New(template)
	if err != nil {
		return nil, 0, err
	}
	free := ranks.free(owner)
	spec.Waves = max(c.Replicas/len(free), 1)
	if f := p.Function(graph.Train); f != nil && slices.ContainsFunc(f.Nodes, func(n graph.Node) bool {
		return n.Op == graph.AllReduce && n.Text("of") == "moments"
	}) {
		spec.Waves = 1
	}
	d, err := n.DivideFor(spec, p, c.Batch, free)
	if err != nil {
		return nil, 0, err
	}
	full := step.WithZeros(p, state)
	load := func(d *stage.Division) (*Trainer, error) {
		return newTrainer(ctx, d, p, full, owner, c, spec, free, ranks)
	}
	s, err := load(d)
	if err != nil {
		return nil, d.Stages(), err
	}
	s.times = n.Times(p, s.rows, s.waves)
	if c.Measure && !s.joint {
		if s, err = s.remeasured(ctx, full, len(spec.Layers) == 0, load); err != nil {
			return nil, d.Stages(), err
		}
	}
	s.planned()
	s.keepRest(full)
	s.ledger.Begin(0, full)
	return s, d.Stages(), nil
}

// newTrainer loads the stages of d and writes the whole state. free is the free memory of
// each device.
func newTrainer(ctx context.Context, d *stage.Division, p *graph.Program, state map[string]tensor.Tensor,
	owner Owner, c Config, of stage.Spec, free []int64, ranks *stageRanks) (*Trainer, error) {
	programs, err := d.Programs(p)
	if err == nil && c.Recomputing != nil {
		err = of.Fits(programs, c.Batch, free)
	}
	if err != nil {
		return nil, err
	}
	columns, err := stage.Columns(len(free), len(programs))
	if err == nil && ranks != nil {
		err = ranks.deal(len(programs))
	}
	if err == nil && columns > c.Replicas {
		err = problem.New("devices", strconv.Itoa(len(free)), fmt.Sprintf("the %s of a stage are more than the "+
			"%s that they share", problem.Plural(columns, "device"), problem.Plural(c.Replicas, "replica")),
			fmt.Sprintf("use {replicas} %d or fewer devices", columns))
	}
	if err != nil {
		return nil, err
	}
	s := &Trainer{config: c, owner: owner, program: p, programs: programs, ledger: &step.Ledger{},
		predictor: emptyPredictor(p), division: d, unstaged: map[string]tensor.Tensor{}, waves: 1, ranks: ranks,
		routes: map[passes]*routes{}}
	for _, program := range programs {
		for _, name := range []string{graph.Forward, graph.Backward} {
			f := program.Function(name)
			s.joint = s.joint || f != nil && f.Reduces()
		}
	}
	if !s.joint {
		s.waves = max(c.Replicas/columns, 1)
	}
	s.rows = (c.Batch + columns*s.waves - 1) / (columns * s.waves)
	s.loading = Loading{Replicas: c.Replicas, Batch: c.Batch, OneByOne: !s.joint}
	err = s.openLocal(ctx, state, columns)
	if ranks != nil {
		_, err = ranks.agree(ctx, stageReport{Of: "loading stages"}, err, nil)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openLocal opens the stages of this process.
func (s *Trainer) openLocal(ctx context.Context, state map[string]tensor.Tensor, columns int) error {
	programs, l := s.programs, s.loading
	if s.ranks != nil {
		from, to := s.ranks.local()
		s.first, programs = from, s.programs[from:to]
	}
	for i, program := range programs {
		l.Program, l.State, l.From, l.To = program, stateIn(program, state), i*columns, (i+1)*columns
		l.Number, l.Slots = s.number(i), stage.UnderWay(len(s.programs), s.first+i)
		if err := s.open(ctx, l); err != nil {
			return fmt.Errorf("stage %d: %w", s.number(i), err)
		}
	}
	if s.ranks != nil {
		s.predictor.overRanks(s.ranks, s.programs)
	}
	return nil
}

// number returns the number, from 1, of stage i of this process.
func (s *Trainer) number(i int) int { return s.first + i + 1 }

// columns returns the names of the devices of each stage.
func (s *Trainer) columns() [][]string {
	if s.ranks != nil {
		return s.ranks.columns
	}
	return s.predictor.columns()
}

// planned makes the plan of the stages, and restarts the measurement of their times.
func (s *Trainer) planned() {
	s.plan = s.division.Plan(s.programs, s.times, s.columns(), s.rows, s.waves)
	s.forgetTimes()
	s.cold = true
	if s.config.Divided != nil {
		s.config.Divided(s.plan)
	}
}

// forgetTimes restarts the measurement of steps and of waiting stages.
func (s *Trainer) forgetTimes() {
	s.worked, s.stepping, s.updating, s.steps = make([]time.Duration, len(s.programs)), 0, 0, 0
}

// open opens a stage.
func (s *Trainer) open(ctx context.Context, l Loading) error {
	for _, m := range s.owner.Devices()[l.From:l.To] {
		if !m.Info.Has(device.Slots) {
			return problem.New("stages", "", fmt.Sprintf("%s cannot train a part of the layers: it lacks the feature "+
				"%s", m.Name, device.Slots), "train on it without {stages}, or take another device")
		}
	}
	d, err := s.owner.Open(ctx, l)
	if err != nil {
		return err
	}
	s.predictor.add(d, l.Program.Function(graph.Predict))
	return nil
}

// stateIn returns the tensors of some state that belong to a program.
func stateIn(p *graph.Program, state map[string]tensor.Tensor) map[string]tensor.Tensor {
	has := map[string]tensor.Tensor{}
	for _, t := range p.State {
		if v, ok := state[t.Name]; ok {
			has[t.Name] = v
		}
	}
	return has
}

// keepRest keeps the state that is not in any stage.
func (s *Trainer) keepRest(state map[string]tensor.Tensor) {
	for name, t := range state {
		if !slices.ContainsFunc(s.programs, func(p *graph.Program) bool { return hasState(p, name) }) {
			s.unstaged[name] = t
		}
	}
}

// hasState reports whether a program has a state tensor.
func hasState(p *graph.Program, name string) bool {
	return slices.ContainsFunc(p.State, func(t graph.State) bool { return t.Name == name })
}

// Stages returns the stages of this process.
func (s *Trainer) Stages() []Stage { return s.predictor.stages }

// Predict does the same as Predictor.Predict, with the state of the Trainer.
func (s *Trainer) Predict(ctx context.Context, x tensor.Tensor) (_ []tensor.Tensor, err error) {
	outer := s.begin()
	defer func() { s.end(outer, err) }()
	if s.ranks != nil {
		ctx = context.WithoutCancel(ctx) // all ranks stop together
	}
	for {
		out, err := s.predictor.stream(ctx, x)
		yields := s.predictor.named(out)
		retry, err := s.ranks.failed(ctx, err)
		_, again, err := s.conclude(ctx, s.reportOf("a prediction", retry), err, yields)
		if err != nil {
			return nil, err
		}
		if !again {
			return s.predictor.inOrder(yields), nil
		}
	}
}

// Rows does the same as Predictor.Rows.
func (s *Trainer) Rows() int { return s.predictor.Rows() }

// OwnRows does the same as Predictor.OwnRows.
func (s *Trainer) OwnRows(rows int) (from, to int) { return s.predictor.OwnRows(rows) }

// Close frees everything that OpenTrainer has loaded.
func (s *Trainer) Close() error {
	if s.stepping > 0 && s.config.Divided != nil {
		s.plan.Ran = true
		s.config.Divided(s.plan)
	}
	return s.predictor.Close()
}

// Version counts the commits since OpenTrainer.
func (s *Trainer) Version() device.Version { return s.version }

// Write sets state tensors.
func (s *Trainer) Write(ctx context.Context, state map[string]tensor.Tensor) error {
	s.ledger.Write(state)
	s.keepRest(state)
	outer := s.begin()
	err := s.each(func(_ int, d Stage) error { return d.Write(ctx, stateIn(d.Program(), state)) })
	_, _, err = s.conclude(ctx, s.reportOf("a write", false), err, nil)
	s.end(outer, err)
	return err
}

// State reads all state.
func (s *Trainer) State(ctx context.Context) (map[string]tensor.Tensor, error) {
	return s.read(ctx, Stage.State)
}

// Snapshot reads all state and begins a new ledger with it. If a stage loses all of its
// devices, all stages repeat the steps since then.
func (s *Trainer) Snapshot(ctx context.Context) (map[string]tensor.Tensor, error) {
	state, err := s.read(ctx, Stage.Snapshot)
	if err == nil {
		s.ledger.Begin(s.version, state)
	}
	return state, err
}

// SnapshotDue reports whether the steps since the last snapshot would take long to repeat.
func (s *Trainer) SnapshotDue() bool { return s.ledger.Long() }

func (s *Trainer) read(ctx context.Context,
	of func(Stage, context.Context) (map[string]tensor.Tensor, error)) (_ map[string]tensor.Tensor, err error) {
	if s.err != nil {
		return nil, s.err
	}
	outer := s.begin()
	defer func() { s.end(outer, err) }()
	for {
		all, err := maps.Clone(s.unstaged), error(nil)
		has := map[string]tensor.Tensor{}
		for i, d := range s.predictor.stages {
			var state map[string]tensor.Tensor
			if state, err = of(d, ctx); err != nil {
				err = fmt.Errorf("stage %d: %w", s.number(i), err)
				break
			}
			maps.Copy(has, state)
		}
		_, again, err := s.conclude(ctx, s.reportOf("the state", false), err, has)
		if err != nil {
			return nil, err
		}
		if !again {
			maps.Copy(all, has)
			return all, nil
		}
	}
}

// each calls f for every stage at once, with the index of the stage.
func (s *Trainer) each(f func(i int, d Stage) error) error {
	errs := make([]error, len(s.predictor.stages))
	ended := make(chan int)
	for i, d := range s.predictor.stages {
		go func() {
			errs[i] = f(i, d)
			ended <- i
		}()
	}
	for range s.predictor.stages {
		<-ended
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("stage %d: %w", s.number(i), err)
		}
	}
	return nil
}
