package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// A flow stores the values that cross between stages, for each replica, until all readers have received
// them. Each column runs its next possible function (turns). It runs replicas in order, so that the
// lowest replica in progress can always continue.

// flow is one pass of a batch through the stages, and back.
type flow struct {
	trainer *Trainer
	runs    []uint64 // number of the run of each stage
	batch   step.Batch
	columns [][]Column // columns of each stage
	passes  passes

	mu      sync.Mutex
	changed *sync.Cond
	values  map[crossing]tensor.Tensor
	readers map[string]int   // readers by value: the number of functions of this process that read it
	unread  map[crossing]int // number of readers left
	results map[string]tensor.Tensor
	worked  map[Column]time.Duration // time without waiting, by column
	took    time.Duration            // duration of the flow
	failed  *stageError
	post    *post                                  // between ranks; nil without ranks
	profile map[Column]map[string][]device.Outcome // outcomes by function; nil if not requested
}

// crossing identifies the value of one replica that crosses between stages.
type crossing struct {
	name    string
	replica int
}

// stageError is the error that ended a flow, and its stage.
type stageError struct {
	stage int
	err   error
}

// newFlow returns the flow of a batch; runs are the numbers that the stages have given their runs.
func newFlow(s *Trainer, b step.Batch, p passes, runs []uint64) *flow {
	f := &flow{trainer: s, runs: runs, batch: b, passes: p, values: map[crossing]tensor.Tensor{},
		readers: map[string]int{},
		unread:  map[crossing]int{}, results: map[string]tensor.Tensor{}, worked: map[Column]time.Duration{}}
	f.changed = sync.NewCond(&f.mu)
	for _, d := range s.predictor.stages {
		f.columns = append(f.columns, d.Columns())
		for _, name := range []string{p.forward, p.backward} {
			if fn := d.Program().Function(name); fn != nil {
				for _, in := range acrossOf(d.Program(), fn) {
					f.readers[in]++
				}
			}
		}
	}
	return f
}

// acrossOf returns the inputs of a function that come from other stages.
func acrossOf(p *graph.Program, fn *graph.Function) (names []string) {
	for _, v := range p.Given(fn) {
		if name := fn.Values[v].Name; stage.Across(name) {
			names = append(names, name)
		}
	}
	return names
}

// run runs the whole flow. After an error it also returns the stage that failed.
func (f *flow) run(ctx context.Context) (int, error) {
	began := time.Now()
	stop := context.AfterFunc(ctx, func() { f.fail(0, context.Cause(ctx)) })
	defer stop()
	f.openPost(ctx)
	if f.trainer.joint {
		f.runTogether(ctx)
	} else {
		f.runOneByOne(ctx)
	}
	if f.post != nil {
		f.post.end(f.ended())
	}
	if !f.ended() && f.passes.reduce != "" {
		f.reduce(ctx)
	}
	if f.ended() {
		return f.failed.stage, f.failed.err
	}
	for _, d := range f.trainer.predictor.stages {
		d.Finished()
	}
	f.took = time.Since(began)
	return 0, nil
}

// fail ends the flow. Only the first error counts, because the others follow from it.
func (f *flow) fail(stage int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil && err != nil {
		f.failed = &stageError{stage, err}
	}
	f.changed.Broadcast()
}

// ended reports whether the flow has failed.
func (f *flow) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed != nil
}

// openPost begins to send and receive the values that cross between ranks.
func (f *flow) openPost(ctx context.Context) {
	r := f.trainer.ranks
	if r == nil {
		return
	}
	way, ok := f.trainer.routes[f.passes]
	if !ok {
		way = r.routesOf(f.trainer.programs, f.passes.forward, f.passes.backward)
		f.trainer.routes[f.passes] = way
	}
	times := 0
	for _, n := range f.batch.Sizes {
		if n > 0 || f.trainer.joint {
			times++
		}
	}
	f.post = r.openPost(ctx, way, times, func(m parcel) error { return f.arrived(way, m) },
		func(err error) { f.fail(0, err) })
}

// arrived stores a value that came from another rank.
func (f *flow) arrived(way *routes, m parcel) error {
	if m.number >= len(f.batch.Sizes) {
		return fmt.Errorf("it has sent replica %d of %d", m.number, len(f.batch.Sizes))
	}
	t, err := m.tensor(way.types, f.batch.Sizes[m.number])
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := crossing{m.name, m.number}
	f.values[c], f.unread[c] = t, f.readers[m.name]
	f.changed.Broadcast()
	return nil
}

// runOneByOne runs all columns at the same time. Each runs its actions one by one.
func (f *flow) runOneByOne(ctx context.Context) {
	var all sync.WaitGroup
	for i, columns := range f.columns {
		for _, m := range columns {
			all.Go(func() {
				if err := f.work(ctx, i, m); err != nil {
					f.fail(i, err)
				}
			})
		}
	}
	all.Wait()
}

// add adds the time of a run to a column's time.
func (f *flow) add(m Column, o device.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.worked[m] += o.Took - o.Blocked
}

// work runs the replicas of a column.
func (f *flow) work(ctx context.Context, i int, m Column) error {
	d := f.trainer.predictor.stages[i]
	t := newTurns(f, i, m)
	for t.left() {
		fn, at := f.await(t.next)
		if fn == nil {
			return nil
		}
		err := d.Call(m, func() error {
			if at < 0 {
				return f.prepare(ctx, m, t, f.runs[i])
			}
			return f.one(ctx, d, m, fn, t.replicas[at:at+1], at%t.limit, f.runs[i])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// await waits until next returns a function, and returns it. It returns nil if the flow has ended.
func (f *flow) await(next func() (*graph.Function, int)) (*graph.Function, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.failed == nil {
		if fn, at := next(); fn != nil {
			return fn, at
		}
		f.changed.Wait()
	}
	return nil, 0
}

// ready reports whether all inputs of a function that come from other stages have arrived. The
// caller holds f.mu.
func (f *flow) ready(p *graph.Program, fn *graph.Function, replica int) bool {
	for _, name := range acrossOf(p, fn) {
		if _, ok := f.values[crossing{name, replica}]; !ok {
			return false
		}
	}
	return true
}

// one runs a function on some replicas of a column.
func (f *flow) one(ctx context.Context, d Stage, m Column, fn *graph.Function, replicas []int, slot int,
	number uint64) error {
	p := d.Program()
	run := device.Step{Function: fn.Name, Number: number, Slot: slot, Replicas: replicas}
	for _, r := range replicas {
		run.Rows = append(run.Rows, f.batch.Sizes[r])
	}
	for _, v := range p.Given(fn) {
		run.Inputs = append(run.Inputs, f.input(fn.Values[v], replicas))
	}
	run.Profile = f.profile != nil
	out, err := m.Run(ctx, run)
	if err != nil {
		return err
	}
	f.add(m, out)
	f.note(m, fn, out)
	at := 0
	for _, o := range fn.Outputs {
		if o.Keep {
			continue
		}
		k := fn.Values[o.Value].Type.Kind
		if stage.Across(o.Name) {
			f.give(o.Name, k, out.Outputs[at], replicas)
		} else {
			f.collect(o.Name, k, out.Outputs[at], replicas)
		}
		at++
	}
	return nil
}

// input returns an input for some replicas, from the batch or from another stage.
func (f *flow) input(v graph.Variable, replicas []int) tensor.Tensor {
	if v.Name == step.InputInverse {
		return tensor.Scalar(f.batch.Inverse)
	}
	if stage.Across(v.Name) {
		return f.take(v, replicas)
	}
	from, to := 0, 0
	if len(replicas) > 0 {
		for _, n := range f.batch.Sizes[:replicas[0]] {
			from += n
		}
		to = from
		for _, r := range replicas {
			to += f.batch.Sizes[r]
		}
	}
	return f.batch.Rows[v.Name].Rows(from, to)
}

// give stores a value that crosses to another stage, replica by replica.
func (f *flow) give(name string, k graph.Kind, t tensor.Tensor, replicas []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := 0
	for i, r := range replicas {
		c, slice := crossing{name, r}, t
		switch k {
		case graph.Rows:
			slice = t.Rows(from, from+f.batch.Sizes[r])
			from += f.batch.Sizes[r]
		case graph.Replica:
			slice = t.Rows(i, i+1)
		}
		if f.readers[name] > 0 {
			f.values[c], f.unread[c] = slice, f.readers[name]
		}
		if f.post != nil {
			f.post.give(name, r, slice)
		}
	}
	f.changed.Broadcast()
}

// take joins the values of some replicas that have crossed, removes them from the flow, and returns
// the joined value.
func (f *flow) take(v graph.Variable, replicas []int) tensor.Tensor {
	f.mu.Lock()
	defer f.mu.Unlock()
	var blocks [][]tensor.Tensor
	for _, r := range replicas {
		c := crossing{v.Name, r}
		blocks = append(blocks, []tensor.Tensor{f.values[c]})
		if f.unread[c]--; f.unread[c] <= 0 {
			delete(f.values, c)
		}
	}
	switch {
	case v.Type.Kind == graph.Whole && len(blocks) > 0:
		return blocks[0][0]
	case len(blocks) == 0:
		return tensor.New(v.Type.DType, v.Type.Sized(0, 0)...)
	}
	return step.JoinRows(blocks)[0]
}

// runTogether runs the stages one after the other, with all columns of a stage at once.
func (f *flow) runTogether(ctx context.Context) {
	for i, d := range f.trainer.predictor.stages {
		f.all(ctx, i, d.Program().Function(f.passes.forward), 0)
	}
	for i, d := range slices.Backward(f.trainer.predictor.stages) {
		f.all(ctx, i, d.Program().Function(f.passes.backward), 1)
	}
}

// all runs a function on all columns of a stage, which may wait for each other. pass distinguishes
// the exchanges of the functions of a step.
func (f *flow) all(ctx context.Context, i int, fn *graph.Function, pass uint64) {
	d := f.trainer.predictor.stages[i]
	if fn == nil || f.post == nil && f.ended() || f.post != nil && !f.awaitAll(d, fn) {
		return
	}
	err := d.Together(func(_ int, m Column) error {
		return f.one(ctx, d, m, fn, m.Replicas(), 0, passesOfRun*f.runs[i]+pass)
	})
	if err != nil {
		f.fail(i, err)
	}
}

// awaitAll waits until all inputs of a function from other ranks have arrived, for all
// replicas. It reports whether they have.
func (f *flow) awaitAll(d Stage, fn *graph.Function) bool {
	there, _ := f.await(func() (*graph.Function, int) {
		for r := range f.batch.Sizes {
			if !f.ready(d.Program(), fn, r) {
				return nil, 0
			}
		}
		return fn, 0
	})
	return there != nil
}

// passesOfRun is the number of functions with exchanges in a step; their pass numbers are 0 to
// passesOfRun-1.
const passesOfRun = 3

// reduce sums the gradients of all replicas, in all stages at once.
func (f *flow) reduce(ctx context.Context) {
	var all sync.WaitGroup
	for i, d := range f.trainer.predictor.stages {
		if fn := d.Program().Function(f.passes.reduce); fn != nil {
			all.Go(func() { f.reduceIn(ctx, i, fn) })
		}
	}
	all.Wait()
}

func (f *flow) reduceIn(ctx context.Context, i int, fn *graph.Function) {
	d := f.trainer.predictor.stages[i]
	err := d.Together(func(rank int, m Column) error {
		run := device.Step{Function: fn.Name, Number: passesOfRun*f.runs[i] + 2}
		for _, r := range m.Replicas() {
			run.Rows = append(run.Rows, f.batch.Sizes[r])
		}
		out, err := m.Run(ctx, run)
		if err != nil {
			return err
		}
		f.add(m, out)
		if rank > 0 {
			return nil
		}
		at := 0
		for _, o := range fn.Outputs {
			if !o.Keep {
				f.collect(o.Name, graph.Whole, out.Outputs[at], nil)
				at++
			}
		}
		return nil
	})
	if err != nil {
		f.fail(i, err)
	}
}
