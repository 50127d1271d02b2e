package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Predictor predicts with a network that is divided into stages on several devices. The outputs are the
// same as on one device.
type Predictor struct {
	division *stage.Division
	programs []*graph.Program
	state    map[string]tensor.Tensor
	config   Config         // configuration of the whole
	loading  Loading        // Replicas and Batch of each stage
	inputs   [][]string     // names of the inputs of each stage
	yields   [][]string     // names of the outputs of each stage
	uses     map[string]int // number of readers of each value that crosses
	outputs  []string       // names of the outputs of the whole function, in order
	external graph.Variable // input of the whole function
	rows     int            // rows of a wave

	plan *stage.Plan // nil unless requested

	ranks  *stageRanks // nil: all stages are in this process
	first  int         // number of stages before those in this process
	routes *routes     // values that cross between ranks

	began  sync.Once
	from   time.Time       // beginning of the first wave
	until  atomic.Int64    // end of the last wave, in ns after from
	mu     sync.RWMutex    // locked while a stage moves, and locked for reading while a stage runs
	stages []Stage         // guarded by mu
	moved  []time.Duration // guarded by mu; time computed on devices that a stage has lost
	shared []*sync.Mutex   // guarded by mu; locks of stages that share devices, nil for others
}

// wavesOfStage is the number of waves per stage in a call of Predict. Stages wait at the beginning and
// at the end, which costs more with few waves.
const wavesOfStage = 4

// OpenPredictor loads p, a program that predicts with a template, on devices. It divides p
// into the requested stages and assigns the devices to them in order. c.Batch is the number
// of rows in all stages at once.
func OpenPredictor(ctx context.Context, template *graph.Graph, p *graph.Program, spec stage.Spec,
	state map[string]tensor.Tensor, owner Owner, c Config) (l *Predictor, err error) {
	ranks, err := newStageRanks(ctx, c, owner)
	if err != nil {
		return nil, err
	}
	if ranks != nil {
		spec.Least = max(spec.Least, len(ranks.devices))
	}
	err = withMoreStages(spec, func(s stage.Spec) (stages int, err error) {
		l, stages, err = openPredictor(ctx, template, p, s, state, owner, c, ranks)
		return stages, err
	})
	return l, err
}

// openPredictor does the same as OpenPredictor, with a minimum number of stages. It returns the
// number of stages.
func openPredictor(ctx context.Context, template *graph.Graph, p *graph.Program, spec stage.Spec,
	state map[string]tensor.Tensor, owner Owner, c Config, ranks *stageRanks) (*Predictor, int, error) {
	n, err := stage.New(template)
	if err != nil {
		return nil, 0, err
	}
	d, err := n.DivideFor(spec, p, c.Batch, ranks.free(owner))
	if err != nil {
		return nil, 0, err
	}
	l, err := newPredictor(ctx, d, p, state, owner, c, ranks)
	if err != nil {
		return nil, d.Stages(), err
	}
	times := n.Times(p, l.rows, 0)
	if ranks == nil && (c.Samples == 0 || c.Samples > streamsWorth*c.Batch || c.Divided != nil) {
		if times, err = l.measure(ctx, times); err != nil {
			return nil, d.Stages(), errors.Join(err, l.Close())
		}
		if better, ok := d.Again(times); ok && len(spec.Layers) == 0 {
			if err := l.Close(); err != nil {
				return nil, 0, err
			}
			l, err = newPredictor(ctx, better, p, state, owner, c, nil)
			if errors.Is(err, device.OutOfMemory) { // the faster division needs too much memory on a device
				l, err = newPredictor(ctx, d, p, state, owner, c, nil)
			}
			if err != nil {
				return nil, d.Stages(), err
			}
		}
	}
	if c.Divided != nil {
		columns := l.columns()
		if ranks != nil {
			columns = ranks.columns
		}
		l.plan = l.division.Plan(l.programs, times, columns, l.rows, 0)
		c.Divided(l.plan)
	}
	return l, d.Stages(), nil
}

// streamsWorth is the minimum number of batches for which measuring the division pays off.
const streamsWorth = 32

// newPredictor loads the stages of d.
func newPredictor(ctx context.Context, d *stage.Division, p *graph.Program, state map[string]tensor.Tensor,
	owner Owner, c Config, ranks *stageRanks) (*Predictor, error) {
	programs, err := d.Programs(p)
	if err != nil {
		return nil, err
	}
	n := len(programs)
	columns, err := stage.Columns(len(ranks.free(owner)), n)
	if err == nil && ranks != nil {
		err = ranks.deal(n)
	}
	if err != nil {
		return nil, err
	}
	for s, program := range programs {
		if program.Function(graph.Predict) == nil {
			return nil, problem.New("stages", "", fmt.Sprintf("stage %d has no layer that predicts: %v", s+1,
				d.Layers(s)), "begin it with an earlier layer")
		}
	}
	l := emptyPredictor(p)
	l.division, l.programs, l.state, l.config = d, programs, state, c
	l.loading = Loading{Replicas: columns, Batch: max((c.Batch+n-1)/n, columns)}
	err = l.open(ctx, owner, columns, ranks)
	if ranks != nil {
		_, err = ranks.agree(ctx, stageReport{Of: "loading stages"}, err, nil)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// open opens the stages of this process.
func (p *Predictor) open(ctx context.Context, owner Owner, columns int, ranks *stageRanks) error {
	programs := p.programs
	if ranks != nil {
		from, to := ranks.local()
		p.first, programs = from, programs[from:to]
		p.overRanks(ranks, p.programs)
	}
	for i, program := range programs {
		l := p.loading
		l.Program, l.State, l.From, l.To = program, p.state, i*columns, (i+1)*columns
		opened, err := owner.Open(ctx, l)
		if err != nil {
			return fmt.Errorf("stage %d: %w", p.first+i+1, err)
		}
		p.add(opened, program.Function(graph.Predict))
	}
	return nil
}

// emptyPredictor returns a predictor of p that has no stages yet.
func emptyPredictor(p *graph.Program) *Predictor {
	whole := p.Function(graph.Predict)
	l := &Predictor{uses: map[string]int{}, external: whole.Values[whole.Inputs[0]]}
	for _, o := range whole.Outputs {
		l.outputs = append(l.outputs, o.Name)
		l.uses[o.Name]++
	}
	return l
}

// add adds a stage that runs f; f is nil if the stage has only an auxiliary head and does
// not predict.
func (p *Predictor) add(d Stage, f *graph.Function) {
	if f == nil {
		p.stages, p.inputs, p.yields = append(p.stages, d), append(p.inputs, nil), append(p.yields, nil)
		p.shared, p.moved = append(p.shared, nil), append(p.moved, 0)
		return
	}
	var inputs, yields []string
	for _, v := range f.Inputs {
		inputs = append(inputs, f.Values[v].Name)
		p.uses[f.Values[v].Name]++
	}
	for _, o := range f.Outputs {
		yields = append(yields, o.Name)
	}
	p.stages, p.inputs, p.yields = append(p.stages, d), append(p.inputs, inputs), append(p.yields, yields)
	p.shared, p.moved = append(p.shared, nil), append(p.moved, 0)
	if len(d.Columns()) > 0 && (p.rows == 0 || d.Rows() < p.rows) {
		p.rows = d.Rows()
	}
}

// overRanks records that the stages of p are some of the stages of r. programs are the stages of all ranks.
func (p *Predictor) overRanks(r *stageRanks, programs []*graph.Program) {
	p.ranks, p.routes = r, r.routesOf(programs, graph.Predict)
}

// named returns outputs by name. Over ranks, outs are the outputs of the stages in this process.
func (p *Predictor) named(outs []tensor.Tensor) map[string]tensor.Tensor {
	all := map[string]tensor.Tensor{}
	for i, name := range p.made() {
		if outs != nil {
			all[name] = outs[i]
		}
	}
	return all
}

// made returns the names of the outputs of the stages in this process, in their order.
func (p *Predictor) made() []string {
	if p.ranks == nil {
		return p.outputs
	}
	return slices.DeleteFunc(slices.Clone(p.outputs), func(name string) bool {
		return !slices.ContainsFunc(p.yields, func(all []string) bool { return slices.Contains(all, name) })
	})
}

// inOrder is the inverse of named.
func (p *Predictor) inOrder(values map[string]tensor.Tensor) (outs []tensor.Tensor) {
	for _, name := range p.outputs {
		outs = append(outs, values[name])
	}
	return outs
}

// move moves the layers of stage s to the devices of another stage, after stage s has lost all devices. From
// then on these devices run both stages in turn.
func (p *Predictor) move(ctx context.Context, s int, lost Stage) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stages[s] != lost {
		return nil // another wave has moved the stage
	}
	if p.programs == nil {
		return step.NoDevices // the pipeline cannot open these stages
	}
	for other, d := range p.stages {
		if other == s || len(d.Columns()) == 0 {
			continue
		}
		var opened Stage
		if opened, err = d.Adopt(ctx, Loading{Program: p.programs[p.first+s], State: p.state}); err != nil {
			continue
		}
		p.moved[s] += lost.Computed()
		if p.shared[other] == nil {
			p.shared[other] = &sync.Mutex{}
		}
		p.stages[s], p.shared[s] = opened, p.shared[other]
		return lost.Close()
	}
	return cmp.Or(err, step.NoDevices)
}

// columns returns the names of the devices of each stage.
func (p *Predictor) columns() (names [][]string) {
	for _, d := range p.stages {
		var columns []string
		for _, c := range d.Columns() {
			columns = append(columns, c.Name())
		}
		names = append(names, columns)
	}
	return names
}

// measure returns times, the time of each node of the template for a row, updated with
// measurements. It runs a wave of zeros on the first device of each stage. The first run of a
// device is slower, so only the second counts.
func (p *Predictor) measure(ctx context.Context, times []float64) ([]float64, error) {
	rows := p.rows / len(p.stages[0].Columns())
	values := map[string]tensor.Tensor{
		p.external.Name: tensor.New(p.external.Type.DType, p.external.Type.Sized(rows, 1)...)}
	for s, d := range p.stages {
		var in []tensor.Tensor
		for _, name := range p.inputs[s] {
			in = append(in, values[name])
		}
		var o device.Outcome
		var err error
		for range 2 {
			if o, err = d.Profile(ctx, in); err != nil {
				return nil, fmt.Errorf("stage %d: %w", s+1, err)
			}
		}
		f := d.Program().Function(graph.Predict)
		times = p.division.Measured(times, s, rows, stage.Ran{Function: f, Nodes: o.Nodes, Took: o.Took})
		for i, name := range p.yields[s] {
			values[name] = o.Outputs[i]
		}
	}
	return times, nil
}

// Rows returns the largest useful number of rows for a call of Predict: enough waves to
// keep all stages busy.
func (p *Predictor) Rows() int { return p.rows * max(len(p.programs), len(p.stages)) * wavesOfStage }

// Ahead reports whether a second call of Predict can use stages that the first call no longer needs.
// With ranks it cannot: they make one call after the other.
func (p *Predictor) Ahead() bool { return p.ranks == nil }

// OwnRows returns the range of rows that this process reads: all rows, or an empty range if
// its stages do not read the input of the network.
func (p *Predictor) OwnRows(rows int) (from, to int) {
	if !p.reads() {
		return 0, 0
	}
	return 0, rows
}

// reads reports whether the stages of this process read the input of the network.
func (p *Predictor) reads() bool {
	return p.ranks == nil || slices.ContainsFunc(p.stages, func(d Stage) bool {
		return readsInput(d.Program(), p.external.Name)
	})
}

// readsInput reports whether a function of a program has an input of that name.
func readsInput(p *graph.Program, name string) bool {
	return slices.ContainsFunc(p.Functions, func(f *graph.Function) bool {
		return slices.ContainsFunc(f.Inputs, func(v graph.Value) bool { return f.Values[v].Name == name })
	})
}

// Close frees the programs that OpenPredictor has loaded.
func (p *Predictor) Close() error {
	var errs []error
	if all := time.Duration(p.until.Load()); p.plan != nil && all > 0 && p.ranks == nil {
		for s, d := range p.stages {
			p.plan.Stages[s].Waited = max(0, 1-(p.moved[s]+d.Computed()).Seconds()/all.Seconds())
		}
		p.plan.Ran = true
		p.config.Divided(p.plan)
	}
	for _, d := range p.stages {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}
