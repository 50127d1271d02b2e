package batching

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// Errors of Queue.Do, beside those of the function and of the context.
var (
	Full   = errors.New("the queue is full")
	Closed = errors.New("the queue is closed")
)

// Run returns the outputs for the rows of x; axis 0 of each output is the rows.
// It must not keep x.
type Run func(x tensor.Tensor) ([]tensor.Tensor, error)

// Options say how large batches are, and how long requests wait for each other.
type Options struct {
	MaxBatch int           // rows that are computed together: at least 1
	MaxQueue int           // rows that may wait, at least 1; a request beyond it gets Full, unless none waits
	MaxDelay time.Duration // how long the first row waits for others; 0: it does not
	// Ahead: run may be called while another call of it is under way. It is, with what
	// has come by then, so that whoever computes has it at hand when the other ends.
	Ahead bool
	// Ran is called after every batch, with its rows and the time that it took, by
	// several goroutines with Ahead; it may be nil.
	Ran func(rows int, took time.Duration)
}

// Queue holds the requests for one function, which one goroutine calls; two with
// Options.Ahead.
type Queue struct {
	run     Run
	o       Options
	mu      sync.Mutex
	waiting []*request
	rows    int // that wait
	closed  bool
	changed chan struct{} // holds one: there may be work, or a reason to end
	loops   sync.WaitGroup
}

// New returns a queue that calls run with rows of type d and shape row (without
// the axis of rows). The caller closes it.
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

// Answer has the outputs for the rows of one request, and the times that it
// took.
type Answer struct {
	Outputs []tensor.Tensor
	Queued  time.Duration // until its first batch began
	Ran     time.Duration // of all batches that its rows were in
}

// request is rows that are on their way.
type request struct {
	x      tensor.Tensor
	came   time.Time
	taken  int // rows that are in a batch, or were
	done   int // rows that were computed
	answer Answer
	err    error
	ready  chan struct{} // closed when answer is there or err, which stays
}

// Do returns the outputs for the rows of x. The caller must not change x before
// Do returns, and after an error never, since a batch may still read it. The
// rows of one request may be computed in several batches. A request whose
// context ends leaves the queue.
func (q *Queue) Do(ctx context.Context, x tensor.Tensor) (*Answer, error) {
	r := &request{x: x, came: time.Now(), ready: make(chan struct{})}
	if err := q.enter(r); err != nil {
		return nil, err
	}
	select {
	case <-r.ready:
		return &r.answer, r.err
	case <-ctx.Done():
		q.leave(r)
		return nil, context.Cause(ctx)
	}
}

func (q *Queue) enter(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := r.x.Shape[0]
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

// full reports whether there is no room for n rows. q.mu is held.
func (q *Queue) full(n int) bool { return q.rows > 0 && q.rows+n > q.o.MaxQueue }

// leave takes out a request that nobody waits for.
func (q *Queue) leave(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(r)
}

// drop removes a request from those that wait, if it is there. q.mu is held.
func (q *Queue) drop(r *request) {
	for i, w := range q.waiting {
		if w == r {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			q.rows -= r.x.Shape[0] - r.taken
			return
		}
	}
}

// signal wakes the loop.
func (q *Queue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// Waiting returns how many rows wait.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.rows
}

// Close refuses new requests, and returns when all that wait are answered.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.signal()
	q.mu.Unlock()
	q.loops.Wait()
}
