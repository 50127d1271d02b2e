package batching

import (
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// segment is the rows of one request that are part of a batch.
type segment struct {
	r    *request
	from int // index of the segment's first row in the request
	rows int
}

// loop computes batches until the queue is closed and empty. x is a buffer for MaxBatch rows.
func (q *Queue) loop(x tensor.Tensor) {
	defer q.signal() // wakes the other loop, so that it ends too
	for {
		batch, end := q.next()
		if end {
			return
		}
		if len(batch) > 0 {
			q.compute(batch, x)
		}
	}
}

// next waits until there are rows, and returns the rows of the next batch. end is true if the queue is closed
// and empty.
func (q *Queue) next() (batch []segment, end bool) {
	q.mu.Lock()
	for len(q.waiting) == 0 {
		if q.closed {
			q.mu.Unlock()
			return nil, true
		}
		q.mu.Unlock()
		<-q.changed
		q.mu.Lock()
	}
	deadline := q.waiting[0].arrived.Add(q.o.MaxDelay)
	q.mu.Unlock()
	if q.o.MaxDelay > 0 {
		q.linger(deadline)
	}
	return q.take(), false
}

// linger waits until there are rows for a whole batch, or until the deadline.
func (q *Queue) linger(deadline time.Time) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		q.mu.Lock()
		enough := q.rows >= q.o.MaxBatch || q.closed
		q.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-q.changed:
		case <-timer.C:
			return
		}
	}
}

// take removes the oldest rows from the queue, up to a whole batch. Either all of them have limits, or none
// of them has. take returns nothing if the other loop has already removed all rows.
func (q *Queue) take() (batch []segment) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for left := q.o.MaxBatch; left > 0 && len(q.waiting) > 0; {
		r := q.waiting[0]
		if len(batch) > 0 && r.isLimited() != batch[0].r.isLimited() {
			break
		}
		s := segment{r, r.taken, min(left, r.X.Shape[0]-r.taken)}
		if s.from == 0 {
			r.answer.Queued = time.Since(r.arrived)
		}
		batch, left = append(batch, s), left-s.rows
		r.reading++
		r.taken, q.rows = r.taken+s.rows, q.rows-s.rows
		if r.taken == r.X.Shape[0] {
			q.waiting = q.waiting[1:]
		}
	}
	if len(q.waiting) > 0 {
		q.signal() // wakes the other loop for the remaining rows
	}
	return batch
}

// compute runs a batch, and answers the requests with all rows computed.
func (q *Queue) compute(batch []segment, buffer tensor.Tensor) {
	x := gather(batch, buffer)
	began := time.Now()
	outs, err := q.runBatch(x, batch)
	took := time.Since(began)
	if q.o.OnBatch != nil {
		q.o.OnBatch(x.Shape[0], took)
	}
	n := 0
	for _, s := range batch {
		if err != nil {
			q.fail(s.r, err)
		} else {
			q.deliver(s, outs, n, took)
		}
		n += s.rows
	}
}

func (r *request) isLimited() bool { return r.Limits.Shape != nil }

// runBatch calls the function for the rows x of a batch.
func (q *Queue) runBatch(x tensor.Tensor, batch []segment) ([]tensor.Tensor, error) {
	if !batch[0].r.isLimited() {
		return q.run(x)
	}
	l := batch[0].r.Limits
	limits, n := tensor.New(l.DType, append([]int{x.Shape[0]}, l.Shape[1:]...)...), 0
	for _, s := range batch {
		copy(limits.Rows(n, n+s.rows).Bytes, s.r.Limits.Rows(s.from, s.from+s.rows).Bytes)
		n += s.rows
	}
	return q.o.Limited(x, limits)
}

// gather returns the rows of a batch: in place if they belong to a single request and are
// aligned, otherwise copied to buffer.
func gather(batch []segment, buffer tensor.Tensor) tensor.Tensor {
	if s := batch[0]; len(batch) == 1 && s.r.X.Aligned() {
		return s.r.X.Rows(s.from, s.from+s.rows)
	}
	n := 0
	for _, s := range batch {
		copy(buffer.Rows(n, n+s.rows).Bytes, s.r.X.Rows(s.from, s.from+s.rows).Bytes)
		n += s.rows
	}
	return buffer.Rows(0, n)
}

// fail answers a request with an error, unless it already has an error. A batch with rows of it has ended.
func (q *Queue) fail(r *request, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(r)
	q.stopReading(r)
	if r.err == nil {
		r.err = err
		close(r.ready)
	}
}

// deliver copies the outputs of a segment, which begin at row at of the batch, to its request. It answers the
// request if all rows are now computed. Other rows of the request may be computed at the same time.
func (q *Queue) deliver(s segment, outs []tensor.Tensor, at int, took time.Duration) {
	r := s.r
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopReading(r)
	if r.answer.Outputs == nil {
		for _, o := range outs {
			shape := append([]int{r.X.Shape[0]}, o.Shape[1:]...)
			r.answer.Outputs = append(r.answer.Outputs, tensor.New(o.DType, shape...))
		}
	}
	for k, o := range outs {
		copy(r.answer.Outputs[k].Rows(s.from, s.from+s.rows).Bytes, o.Rows(at, at+s.rows).Bytes)
	}
	r.answer.Computed += took
	if r.done += s.rows; r.done == r.X.Shape[0] && r.err == nil {
		close(r.ready)
	}
}
