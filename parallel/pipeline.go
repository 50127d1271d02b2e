package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Predictions flow through the stages in waves, so that all of them have work:
//
//	stage 1   wave 1 | wave 2 | wave 3
//	stage 2            wave 1 | wave 2 | wave 3
//
// A stage is a Driver of its own: its columns share the rows of a wave, and it recovers
// alone when it loses one of them.

// Pipeline predicts with a network whose layers lie on several devices. Its methods are
// those of a Driver of one program, and so are its results.
type Pipeline struct {
	stages   []*Driver
	inputs   [][]string     // of each stage: names of the inputs of its function
	yields   [][]string     // and of the outputs
	uses     map[string]int // of a value that goes from stage to stage: how many read it
	outputs  []string       // of the whole function, in order
	external string         // the input of the whole function
}

// wavesOfStage is how many waves there are of a call of Predict for each stage: with few of
// them stages wait at the beginning and at the end.
const wavesOfStage = 4

// OpenPipeline loads p, a program that predicts with a template, on devices: it is divided
// into the stages that s asks for, and the devices are dealt to them in their order. c.Batch
// is how many rows there are at once in all stages.
func OpenPipeline(ctx context.Context, template *graph.Graph, p *graph.Program, s stage.Spec,
	state map[string]tensor.Tensor, devices []Member, c Config) (*Pipeline, error) {
	if c.Peers != nil {
		return nil, problem.New("stages", "", "they lie on the devices of one process, and this run has several",
			"leave {stages} out, or start one process")
	}
	d, err := stage.Divide(template, s, p, c.Batch, memoryOf(devices))
	if err != nil {
		return nil, err
	}
	programs, err := d.Programs(p)
	if err != nil {
		return nil, err
	}
	n := len(programs)
	columns, err := stage.Columns(len(devices), n)
	if err != nil {
		return nil, err
	}
	whole := p.Function(graph.Predict)
	l := &Pipeline{uses: map[string]int{}, external: whole.Values[whole.Inputs[0]].Name}
	for _, o := range whole.Outputs {
		l.outputs = append(l.outputs, o.Name)
		l.uses[o.Name]++
	}
	c.Replicas, c.Batch, c.Referee = columns, max((c.Batch+n-1)/n, columns), nil
	for s, program := range programs {
		f := program.Function(graph.Predict)
		if f == nil {
			return nil, errors.Join(problem.New("stages", "", fmt.Sprintf("stage %d has no layer that predicts: %v",
				s+1, d.Layers(s)), "begin it with an earlier layer"), l.Close())
		}
		opened, err := Open(ctx, program, state, devices[s*columns:(s+1)*columns], c)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("stage %d: %w", s+1, err), l.Close())
		}
		l.add(opened, f)
	}
	return l, nil
}

// memoryOf returns how many bytes each of some devices has free. Those of the host have its
// memory in common.
func memoryOf(devices []Member) []int64 {
	free := make([]int64, len(devices))
	hosts := int64(0)
	for i, m := range devices {
		free[i] = m.Device.Info().MemoryFree
		if m.Device.Info().Threads > 0 {
			hosts++
		}
	}
	for i, m := range devices {
		if m.Device.Info().Threads > 0 {
			free[i] /= hosts
		}
	}
	return free
}

// add adds a stage, which runs f.
func (p *Pipeline) add(d *Driver, f *graph.Function) {
	var inputs, yields []string
	for _, v := range f.Inputs {
		inputs = append(inputs, f.Values[v].Name)
		p.uses[f.Values[v].Name]++
	}
	for _, o := range f.Outputs {
		yields = append(yields, o.Name)
	}
	p.stages, p.inputs, p.yields = append(p.stages, d), append(p.inputs, inputs), append(p.yields, yields)
}

// wave is rows on their way through the stages.
type wave struct {
	values map[string]tensor.Tensor // by name: what stages have made, and others will read
	left   map[string]int           // how many will
	err    error
}

// Predict is Driver.Predict. Several goroutines may call it at once.
func (p *Pipeline) Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	first := make(chan *wave)
	all.Go(func() {
		defer close(first)
		for from := 0; from < x.Shape[0]; {
			to := min(from+p.rowsOfWave(), x.Shape[0])
			w := &wave{values: map[string]tensor.Tensor{p.external: x.Rows(from, to)}, left: map[string]int{}}
			for name, n := range p.uses {
				w.left[name] = n
			}
			first <- w
			from = to
		}
	})
	last := first
	for s := range p.stages {
		in, out := last, make(chan *wave)
		all.Go(func() {
			defer close(out)
			for w := range in {
				if w.err == nil {
					w.err = p.run(ctx, s, w)
				}
				out <- w
			}
		})
		last = out
	}
	var chunks [][]tensor.Tensor
	var err error
	for w := range last {
		if err == nil && w.err != nil {
			err = w.err
			stop() // the waves behind it
		}
		chunks = append(chunks, w.outputs(p.outputs))
	}
	all.Wait()
	if err != nil {
		return nil, err
	}
	return joinRows(chunks), nil
}

// run runs stage s on a wave.
func (p *Pipeline) run(ctx context.Context, s int, w *wave) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var in []tensor.Tensor
	for _, name := range p.inputs[s] {
		in = append(in, w.values[name])
		if w.left[name]--; w.left[name] == 0 {
			delete(w.values, name)
		}
	}
	outs, err := p.stages[s].predictHere(ctx, in)
	if err != nil {
		return fmt.Errorf("stage %d: %w", s+1, err)
	}
	for i, name := range p.yields[s] {
		if w.left[name] > 0 {
			w.values[name] = outs[i]
		}
	}
	return nil
}

// outputs returns the outputs of the whole function.
func (w *wave) outputs(names []string) (list []tensor.Tensor) {
	for _, name := range names {
		list = append(list, w.values[name])
	}
	return list
}

// rowsOfWave returns how many rows a wave has.
func (p *Pipeline) rowsOfWave() int {
	rows := p.stages[0].Rows()
	for _, d := range p.stages {
		rows = min(rows, d.Rows())
	}
	return rows
}

// Rows returns how many rows a call of Predict should have at most: as many waves as keep
// all stages at work.
func (p *Pipeline) Rows() int { return p.rowsOfWave() * len(p.stages) * wavesOfStage }

// Ahead reports that a second call of Predict finds stages which the first has left.
func (p *Pipeline) Ahead() bool { return true }

// OwnRows returns all rows: a pipeline has no peers.
func (p *Pipeline) OwnRows(rows int) (from, to int) { return 0, rows }

// Close frees what OpenPipeline has loaded.
func (p *Pipeline) Close() error {
	var errs []error
	for _, d := range p.stages {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}
