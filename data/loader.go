package data

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Plan states which batches a Loader returns. Workers and Prefetch change only the speed.
type Plan struct {
	Batch   int    // number of samples in a batch; the last batch of an epoch may have fewer
	Seed    uint64 // seed of the order and of augmentation
	Shuffle bool   // if false, every epoch has the order of the source
	// Weights are the weights of the samples, at least 0. Samples are then drawn by weight and with replacement,
	// as many for an epoch as the source has. So some samples occur several times in an epoch and others never.
	// nil: each sample occurs once.
	Weights   []float64
	Transform Transform
	Epochs    int      // number of epochs, counted from epoch 0, after which the loader ends; 0: it never ends
	Start     Position // position of the first batch
	Workers   int      // number of goroutines that read and transform; 0: one for each core
	Prefetch  int      // number of batches that are prepared ahead of the reader; 0: 3
	// Select returns a function that selects the rows of a batch that are read. The other rows have labels, but
	// their elements are undefined. nil: all rows are read.
	Select     func(at Position, rows int) func(row int) bool
	SkipErrors bool // a sample that cannot be read is a Batch.Bad row, not an error of Next
}

// Position is the position of a batch in a run: its epoch and its number in the epoch, both
// counted from 0.
type Position struct{ Epoch, Index int }

// Loader returns the batches of a plan in order. Its goroutines prepare batches ahead of the reader. They end
// when Close is called, when the context ends, or after the last batch.
type Loader struct {
	src        Source
	info       Info
	plan       Plan
	shape      []int // shape of a transformed sample
	labelShape []int // shape of a transformed sample's label
	draws      tensor.Philox
	sums       []float64 // cumulative sums of Plan.Weights

	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	ready  chan *Batch // batches in their order; the next one may not be filled yet
	jobs   chan job
	free   chan *Batch // released batches, to be used again
	err    error       // error of the last call of Next; nil after a batch
}

// job is the task to fill rows [start, end) of a batch.
type job struct {
	batch      *Batch
	wanted     func(row int) bool // selects rows; nil: all rows
	start, end int
}

// NewLoader returns a loader of src. It starts reading at once, and ends with ctx. It is an error if the plan
// does not fit the source. The loader must be closed before the source.
func NewLoader(ctx context.Context, src Source, plan Plan) (*Loader, error) {
	info := src.Info()
	shape, err := plan.Transform.Shape(info)
	if err != nil {
		return nil, err
	}
	if plan.Batch < 1 || plan.Workers < 0 || plan.Prefetch < 0 || plan.Epochs < 0 {
		return nil, fmt.Errorf("batch %d, workers %d, prefetch %d, epochs %d: want at least 1, 0, 0, 0",
			plan.Batch, plan.Workers, plan.Prefetch, plan.Epochs)
	}
	if _, err := tensor.Size(info.DType, append([]int{plan.Batch}, shape...)); err != nil {
		return nil, fmt.Errorf("batch %d: %w", plan.Batch, err)
	}
	l := &Loader{src: src, info: info, plan: plan, shape: shape, labelShape: labelShape(info, shape)}
	if info.Boxes {
		l.labelShape = []int{MostBoxes(info, plan.Transform.Augment), BoxFields}
	}
	if plan.Weights != nil {
		if l.sums, err = weightSums(plan.Weights, info.Len); err != nil {
			return nil, err
		}
	}
	if s := plan.Start; s.Epoch < 0 || s.Index < 0 || s.Index > l.batches() {
		return nil, fmt.Errorf("start at batch %d of epoch %d: an epoch has %s",
			s.Index, s.Epoch, problem.Plural(l.batches(), "batch"))
	}
	l.start(ctx)
	return l, nil
}

// batches returns the number of batches in an epoch.
func (l *Loader) batches() int { return (l.info.Len + l.plan.Batch - 1) / l.plan.Batch }

// Next returns the next batch, and waits until it is ready. It returns io.EOF after the last batch. After an
// error every call returns the same error.
func (l *Loader) Next() (*Batch, error) {
	if l.err != nil {
		return nil, l.err
	}
	b, ok := <-l.ready
	if !ok {
		if l.err = context.Cause(l.ctx); l.err == nil {
			l.err = io.EOF
		}
		return nil, l.err
	}
	select {
	case <-b.filled:
	case <-l.ctx.Done():
		l.err = context.Cause(l.ctx)
		return nil, l.err
	}
	if l.err = b.err; l.err != nil {
		return nil, l.err
	}
	return b, nil
}

// closing is how long Close waits for reads of the source to end. A Source may come from the caller, and not
// every decoder stops at once.
const closing = 2 * time.Second

// Close stops reading and waits until all reads of the source have ended, for at most two
// seconds. A goroutine that is still reading then ends after its sample.
func (l *Loader) Close() {
	l.cancel()
	ended := make(chan struct{})
	go func() {
		l.wait.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closing):
	}
}

func (l *Loader) start(ctx context.Context) {
	workers, ahead := l.plan.Workers, l.plan.Prefetch
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if ahead == 0 {
		ahead = 3
	}
	l.draws = tensor.NewPhilox(l.plan.Seed, tensor.StreamAugment)
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.ready = make(chan *Batch, ahead)
	l.jobs = make(chan job)
	l.free = make(chan *Batch, ahead+1)
	l.wait.Go(l.dispatch)
	for range workers {
		l.wait.Go(l.work)
	}
}

// dispatch creates the batches in their order, and divides each into jobs.
func (l *Loader) dispatch() {
	defer close(l.jobs)
	defer close(l.ready)
	first := l.plan.Start.Index
	for epoch := l.plan.Start.Epoch; l.plan.Epochs == 0 || epoch < l.plan.Epochs; epoch++ {
		all := l.order(epoch)
		for index := first; index < l.batches(); index++ {
			from := index * l.plan.Batch
			b := l.batch(epoch, index, all.rows(from, min(from+l.plan.Batch, l.info.Len)))
			if !l.send(b) {
				return
			}
		}
		first = 0
	}
}

func (l *Loader) order(epoch int) visits {
	switch {
	case l.sums != nil:
		return drawnByWeight(l.plan.Seed, epoch, l.sums)
	case l.plan.Shuffle:
		return visits{samples: order(l.plan.Seed, epoch, l.info.Len)}
	}
	return visits{samples: inOrder(l.info.Len)}
}

// send passes b to the reader, and its rows as jobs to the workers. It returns false if the loader was
// closed.
func (l *Loader) send(b *Batch) bool {
	rows := b.Len()
	var wanted func(row int) bool
	if l.plan.Select != nil {
		wanted = l.plan.Select(b.Position, rows)
	}
	if b.wanted = wanted; l.plan.Transform.Augment.Mixes() {
		wanted = needed(wanted, rows)
	}
	l.readAhead(b, wanted)
	select {
	case l.ready <- b:
	case <-l.ctx.Done():
		return false
	}
	step := l.rowsPerJob()
	for from := 0; from < rows; from += step {
		select {
		case l.jobs <- job{b, wanted, from, min(from+step, rows)}:
		case <-l.ctx.Done():
			return false
		}
	}
	return true
}

// rowsPerJob returns the number of rows of a job. A job has about 64 KiB. This is large enough for a small
// overhead, and small enough for dividing the next batch among all workers.
func (l *Loader) rowsPerJob() int {
	return max(1, (64<<10)/max(1, tensor.Count(l.shape)*l.info.DType.Size()))
}

func (l *Loader) work() {
	for j := range l.jobs {
		for row := j.start; row < j.end; row++ {
			err := context.Cause(l.ctx)
			if err == nil {
				err = l.fill(j.batch, row, j.wanted == nil || j.wanted(row))
			}
			if l.ctx.Err() != nil {
				err = context.Cause(l.ctx)
			}
			if err != nil && l.plan.SkipErrors && l.ctx.Err() == nil {
				j.batch.note(row, err)
				continue
			}
			if err != nil {
				j.batch.fail(row, err)
				break
			}
		}
		j.batch.rowsFilled(j.end - j.start)
	}
}

// fill makes one row of a batch with its label or, if the row is not wanted, only its label. For a label that
// is a mask it needs the picture too, because both are transformed together.
func (l *Loader) fill(b *Batch, row int, wanted bool) error {
	i := int(b.samples[row])
	if wanted && l.once() {
		src, _ := l.src.(transformer)
		if err := src.transformed(l.ctx, i, l.plan.Transform, b.row(row)); err != nil || !l.info.Labelled {
			return err
		}
		wanted = false
	}
	if l.info.Boxes {
		return l.fillBoxes(b, row, wanted)
	}
	var sample tensor.Tensor
	var err error
	if wanted || l.info.Masks {
		if sample, err = l.src.Sample(l.ctx, i); err != nil {
			return err
		}
	}
	d := l.draws.Draws(uint32(b.Epoch), uint64(b.occurrence(row)))
	if l.info.Labelled {
		if err := l.label(b.labels[row*b.perLabel:(row+1)*b.perLabel], i, sample, d); err != nil {
			return err
		}
	}
	dst := b.row(row)
	switch {
	case !wanted:
	case !l.info.Pictures():
		copy(dst.Bytes, sample.Bytes)
	default:
		l.plan.Transform.Apply(dst, sample, &d)
	}
	return nil
}

// once reports whether the plan uses each picture only once and without augmentation, so that a cache would
// not help.
func (l *Loader) once() bool {
	_, ok := l.src.(transformer)
	return ok && l.plan.Epochs == 1 && l.plan.Transform.Augment.IsNone() && l.info.Pictures() &&
		!l.info.Masks && !l.info.Boxes
}

// label writes the label of sample i to dst. If the label is a mask, it is transformed like its picture, with
// the same draws.
func (l *Loader) label(dst []int32, i int, picture tensor.Tensor, d tensor.Draws) error {
	label, err := l.src.Label(l.ctx, i)
	if err != nil {
		return err
	}
	if !l.info.Masks {
		copy(dst, label)
		return nil
	}
	if err := l.plan.Transform.ApplyMask(dst, label, l.labelShape[0], l.labelShape[1], picture, &d); err != nil {
		return fmt.Errorf("%s: %w", l.src.Name(i), err)
	}
	return nil
}
