package parallel

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
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Pipeline predicts with a network that is divided into stages on several devices. It has
// the methods of a Driver of the undivided program, and the same results.
type Pipeline struct {
	division *stage.Division
	programs []*graph.Program
	state    map[string]tensor.Tensor
	config   Config         // configuration of each stage
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
	from   time.Time     // beginning of the first wave
	until  atomic.Int64  // end of the last wave, in ns after from
	mu     sync.RWMutex  // locked while a stage moves; read while one runs
	stages []*Driver     // guarded by mu
	shared []*sync.Mutex // guarded by mu; locks of stages that share devices, nil for others
}

// wavesOfStage is the number of waves per stage in a call of Predict. Stages wait at the beginning and
// at the end, which costs more with few waves.
const wavesOfStage = 4

// OpenPipeline loads p, a program that predicts with a template, on devices. It divides p
// into the requested stages and assigns the devices to them in order. c.Batch is the number
// of rows in all stages at once.
func OpenPipeline(ctx context.Context, template *graph.Graph, p *graph.Program, asked stage.Spec,
	state map[string]tensor.Tensor, devices []Member, c Config) (l *Pipeline, err error) {
	ranks, err := newStageRanks(ctx, c, devices)
	if err != nil {
		return nil, err
	}
	c.Joins = nil
	if c.Peers = nil; ranks != nil {
		asked.Least = max(asked.Least, len(ranks.devices))
	}
	err = withMoreStages(asked, func(s stage.Spec) (stages int, err error) {
		l, stages, err = openPipeline(ctx, template, p, s, state, devices, c, ranks)
		return stages, err
	})
	return l, err
}

// openPipeline does the same as OpenPipeline, with a minimum number of stages. It returns their number.
func openPipeline(ctx context.Context, template *graph.Graph, p *graph.Program, asked stage.Spec,
	state map[string]tensor.Tensor, devices []Member, c Config, ranks *stageRanks) (*Pipeline, int, error) {
	n, err := stage.New(template)
	if err != nil {
		return nil, 0, err
	}
	d, err := n.DivideFor(asked, p, c.Batch, ranks.free(devices))
	if err != nil {
		return nil, 0, err
	}
	l, err := newPipeline(ctx, d, p, state, devices, c, ranks)
	if err != nil {
		return nil, d.Stages(), err
	}
	times := n.Times(p, l.rows, 0)
	if ranks == nil && (c.Samples == 0 || c.Samples > streamsWorth*c.Batch || c.Divided != nil) {
		if times, err = l.measure(ctx, times); err != nil {
			return nil, d.Stages(), errors.Join(err, l.Close())
		}
		if better, ok := d.Again(times); ok && len(asked.Layers) == 0 {
			if err := l.Close(); err != nil {
				return nil, 0, err
			}
			l, err = newPipeline(ctx, better, p, state, devices, c, nil)
			if errors.Is(err, device.OutOfMemory) { // the faster division needs too much memory on a device
				l, err = newPipeline(ctx, d, p, state, devices, c, nil)
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

// newPipeline loads the stages of d.
func newPipeline(ctx context.Context, d *stage.Division, p *graph.Program, state map[string]tensor.Tensor,
	devices []Member, c Config, ranks *stageRanks) (*Pipeline, error) {
	programs, err := d.Programs(p)
	if err != nil {
		return nil, err
	}
	n := len(programs)
	columns, err := stage.Columns(len(ranks.free(devices)), n)
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
	c.Replicas, c.Batch, c.Referee = columns, max((c.Batch+n-1)/n, columns), nil
	l := emptyPipeline(p)
	l.division, l.programs, l.state, l.config = d, programs, state, c
	err = l.open(ctx, devices, columns, ranks)
	if ranks != nil {
		_, err = ranks.agree(ctx, stageReport{verdict: verdict{Of: "loading stages"}}, err, nil)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// open opens the stages of this process.
func (p *Pipeline) open(ctx context.Context, devices []Member, columns int, ranks *stageRanks) error {
	programs := p.programs
	if ranks != nil {
		from, to := ranks.local()
		p.first, programs = from, programs[from:to]
		p.overRanks(ranks, p.programs)
	}
	for i, program := range programs {
		opened, err := Open(ctx, program, p.state, devices[i*columns:(i+1)*columns], p.config)
		if err != nil {
			return fmt.Errorf("stage %d: %w", p.first+i+1, err)
		}
		p.add(opened, program.Function(graph.Predict))
	}
	return nil
}

// emptyPipeline returns a pipeline of p that has no stages yet.
func emptyPipeline(p *graph.Program) *Pipeline {
	whole := p.Function(graph.Predict)
	l := &Pipeline{uses: map[string]int{}, external: whole.Values[whole.Inputs[0]]}
	for _, o := range whole.Outputs {
		l.outputs = append(l.outputs, o.Name)
		l.uses[o.Name]++
	}
	return l
}

// add adds a stage that runs f; f is nil if the stage has only an auxiliary head and does
// not predict.
func (p *Pipeline) add(d *Driver, f *graph.Function) {
	if f == nil {
		p.stages, p.inputs, p.yields = append(p.stages, d), append(p.inputs, nil), append(p.yields, nil)
		p.shared = append(p.shared, nil)
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
	p.shared = append(p.shared, nil)
	if len(d.group.members) > 0 && (p.rows == 0 || d.Rows() < p.rows) {
		p.rows = d.Rows()
	}
}

// overRanks tells p that its stages are some of the stages of r; programs are the stages of all
// ranks.
func (p *Pipeline) overRanks(r *stageRanks, programs []*graph.Program) {
	p.ranks, p.routes = r, r.routesOf(programs, graph.Predict)
}

// named returns outputs by name. Over ranks, outs are the outputs of the stages in this process.
func (p *Pipeline) named(outs []tensor.Tensor) map[string]tensor.Tensor {
	all := map[string]tensor.Tensor{}
	for i, name := range p.made() {
		if outs != nil {
			all[name] = outs[i]
		}
	}
	return all
}

// made returns the names of the outputs of the stages in this process, in their order.
func (p *Pipeline) made() []string {
	if p.ranks == nil {
		return p.outputs
	}
	return slices.DeleteFunc(slices.Clone(p.outputs), func(name string) bool {
		return !slices.ContainsFunc(p.yields, func(all []string) bool { return slices.Contains(all, name) })
	})
}

// inOrder is the inverse of named.
func (p *Pipeline) inOrder(all map[string]tensor.Tensor) (outs []tensor.Tensor) {
	for _, name := range p.outputs {
		outs = append(outs, all[name])
	}
	return outs
}

// move moves the layers of stage s to the devices of another stage, after its driver has
// lost all devices. From then on these devices run both stages in turn.
func (p *Pipeline) move(ctx context.Context, s int, lost *Driver) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stages[s] != lost {
		return nil // another wave has moved it
	}
	if p.programs == nil {
		return NoDevices // the pipeline cannot open these stages
	}
	for other, d := range p.stages {
		var devices []Member
		for _, m := range d.group.members {
			devices = append(devices, m.Member)
		}
		if other == s || len(devices) == 0 {
			continue
		}
		c := p.config
		c.Replicas, c.Reopen = len(devices), nil
		c.Batch = max(c.Batch, c.Replicas)
		var opened *Driver
		if opened, err = Open(ctx, p.programs[p.first+s], p.state, devices, c); err != nil {
			continue
		}
		opened.computed = lost.computed
		if p.shared[other] == nil {
			p.shared[other] = &sync.Mutex{}
		}
		p.stages[s], p.shared[s] = opened, p.shared[other]
		return lost.Close()
	}
	return cmp.Or(err, NoDevices)
}

// columns returns the names of the devices of each stage.
func (p *Pipeline) columns() (names [][]string) {
	for _, d := range p.stages {
		names = append(names, d.Group().Devices())
	}
	return names
}

// measure returns times, the time of each node of the template for a row, updated with
// measurements. It runs a wave of zeros on the first device of each stage. The first run of a
// device is slower, so only the second counts.
func (p *Pipeline) measure(ctx context.Context, times []float64) ([]float64, error) {
	rows := p.rows / len(p.stages[0].group.members)
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
			if o, err = d.profile(ctx, in); err != nil {
				return nil, fmt.Errorf("stage %d: %w", s+1, err)
			}
		}
		f := d.program.current.Function(graph.Predict)
		times = p.division.Measured(times, s, rows, stage.Ran{Function: f, Nodes: o.Nodes, Took: o.Took})
		for i, name := range p.yields[s] {
			values[name] = o.Outputs[i]
		}
	}
	return times, nil
}

// Rows returns the largest useful number of rows for a call of Predict: enough waves to
// keep all stages busy.
func (p *Pipeline) Rows() int { return p.rows * max(len(p.programs), len(p.stages)) * wavesOfStage }

// Ahead reports whether a second call of Predict can use stages that the first call no longer needs.
// With ranks it cannot: they make one call after the other.
func (p *Pipeline) Ahead() bool { return p.ranks == nil }

// OwnRows returns the range of rows that this process reads: all rows, or an empty range if
// its stages do not read the input of the network.
func (p *Pipeline) OwnRows(rows int) (from, to int) {
	if !p.reads() {
		return 0, 0
	}
	return 0, rows
}

// reads reports whether the stages of this process read the input of the network.
func (p *Pipeline) reads() bool {
	return p.ranks == nil || slices.ContainsFunc(p.stages, func(d *Driver) bool {
		return readsInput(d.program.current, p.external.Name)
	})
}

// readsInput reports whether a function of a program has an input of that name.
func readsInput(p *graph.Program, name string) bool {
	return slices.ContainsFunc(p.Functions, func(f *graph.Function) bool {
		return slices.ContainsFunc(f.Inputs, func(v graph.Value) bool { return f.Values[v].Name == name })
	})
}

// Close frees the programs that OpenPipeline has loaded.
func (p *Pipeline) Close() error {
	var errs []error
	if all := time.Duration(p.until.Load()); p.plan != nil && all > 0 && p.ranks == nil {
		for s, d := range p.stages {
			p.plan.Stages[s].Waited = max(0, 1-d.computed.Seconds()/all.Seconds())
		}
		p.plan.Ran = true
		p.config.Divided(p.plan)
	}
	for _, d := range p.stages {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}
