package batching

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// Errors of Queue.Do, in addition to the errors of the function and of the context.
var (
	Full   = errors.New("the queue is full")
	Closed = errors.New("the queue is closed")
)

// Run is a function that returns the outputs for the rows of x. Axis 0 of each output is the rows. It must
// not retain x.
type Run func(x tensor.Tensor) ([]tensor.Tensor, error)

// Options sets the size of batches, and how long requests wait for each other.
type Options struct {
	MaxBatch int           // rows that are computed together: at least 1
	MaxQueue int           // rows that may wait, at least 1; beyond that Do returns Full
	MaxDelay time.Duration // how long the first row of a batch waits for further rows
	// Ahead permits two concurrent calls of the Run function, so that the device already has the next batch when
	// the current one ends.
	Ahead bool
	// Limited computes rows with limits, in place of the Run function. limits has a row for each row of x. It is
	// nil if no request has limits.
	Limited func(x, limits tensor.Tensor) ([]tensor.Tensor, error)
	// OnBatch is called after every batch, with its number of rows and the time that it took. If Ahead is set,
	// several goroutines call it. It may be nil.
	OnBatch func(rows int, took time.Duration)
}

// Queue collects requests into batches and calls a Run function with each batch. One goroutine calls the
// function, or two if Options.Ahead is set.
type Queue struct {
	run     Run
	o       Options
	mu      sync.Mutex
	waiting []*request
	rows    int // number of rows that wait
	closed  bool
	changed chan struct{} // capacity 1; has an element if rows may wait, or if the queue was closed
	loops   sync.WaitGroup
}

// New returns a queue that calls run with tensors of type d. row is the shape of one row, without the axis of
// rows. The caller closes the queue.
func New(d tensor.DType, row []int, o Options, run Run) *Queue {
	q := &Queue{run: run, o: o, changed: make(chan struct{}, 1)}
	loops := 1
	if o.Ahead {
		loops = 2
	}
	for range loops {
		x := tensor.New(d, append([]int{o.MaxBatch}, row...)...)
		q.loops.Go(func() { q.loop(x) })
	}
	return q
}

// Rows are the rows of a request.
type Rows struct {
	X tensor.Tensor
	// Limits is a second tensor, with a row for each row of X, or the zero tensor. Rows with limits and rows
	// without limits are never in the same batch.
	Limits tensor.Tensor
	// Release is called once, when no batch reads X or will read it. This may be after DoRows has returned.
	Release func()
}

// Answer has the outputs for the rows of one request, and the times that the request took.
type Answer struct {
	Outputs  []tensor.Tensor
	Queued   time.Duration // time until its first batch began
	Computed time.Duration // total time of all batches with rows of the request
}

// request is the rows of one call of Do.
type request struct {
	Rows
	arrived time.Time
	taken   int // rows that have been added to a batch
	reading int // batches in progress that read X
	done    int // rows that were computed
	answer  Answer
	err     error
	ready   chan struct{} // closed when answer or err is set
}

// Do returns the outputs for the rows of x. The caller must not change x before Do returns. If Do returns an
// error, the caller must never change x, because a batch may still read it. The rows of one request may be
// computed in several batches. If ctx ends, the request is removed from the queue.
func (q *Queue) Do(ctx context.Context, x tensor.Tensor) (*Answer, error) {
	return q.DoRows(ctx, Rows{X: x})
}

// DoRows is Do for rows that may have limits.
func (q *Queue) DoRows(ctx context.Context, rows Rows) (*Answer, error) {
	if rows.Release == nil {
		rows.Release = func() {}
	}
	r := &request{Rows: rows, arrived: time.Now(), ready: make(chan struct{})}
	if err := q.enqueue(r); err != nil {
		rows.Release()
		return nil, err
	}
	select {
	case <-r.ready:
		return &r.answer, r.err
	case <-ctx.Done():
		q.cancel(r)
		return nil, context.Cause(ctx)
	}
}

func (q *Queue) enqueue(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := r.X.Shape[0]
	switch {
	case q.closed:
		return Closed
	case q.full(n):
		return Full
	}
	q.waiting, q.rows = append(q.waiting, r), q.rows+n
	q.signal()
	return nil
}

// Full reports whether no further row can wait now.
func (q *Queue) Full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.full(1)
}

// full reports whether n more rows do not fit into the queue. q.mu is locked.
func (q *Queue) full(n int) bool { return q.rows > 0 && q.rows+n > q.o.MaxQueue }

// cancel removes a request after its caller has stopped waiting.
func (q *Queue) cancel(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(r)
}

// drop removes a request from the queue, if it is there. q.mu is locked.
func (q *Queue) drop(r *request) {
	for i, w := range q.waiting {
		if w == r {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			q.rows -= r.X.Shape[0] - r.taken
			if r.reading == 0 {
				r.Release()
			}
			return
		}
	}
}

// stopReading records that a batch with rows of r has ended. q.mu is locked.
func (q *Queue) stopReading(r *request) {
	if r.reading--; r.reading == 0 && !slices.Contains(q.waiting, r) {
		r.Release()
	}
}

// signal wakes a goroutine that computes batches.
func (q *Queue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// Waiting returns the number of rows in the queue.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.rows
}

// Close refuses new requests, and returns when all requests in the queue are answered.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.signal()
	q.mu.Unlock()
	q.loops.Wait()
}
