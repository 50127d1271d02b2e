package batching

import (
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// share is the rows of a request that are in a batch.
type share struct {
	r    *request
	from int // the first of them among those of the request
	rows int
}

// loop computes batch after batch until the queue is closed and empty. x is room
// for the rows of one, MaxBatch of them.
func (q *Queue) loop(x tensor.Tensor) {
	defer q.signal() // to the other
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

// next waits for rows, and returns those of the next batch; end: there will be
// none.
func (q *Queue) next() (batch []share, end bool) {
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
	late := q.waiting[0].came.Add(q.o.MaxDelay)
	q.mu.Unlock()
	if q.o.MaxDelay > 0 {
		q.linger(late)
	}
	return q.take(), false
}

// linger waits until there are rows for a whole batch, or it is late.
func (q *Queue) linger(late time.Time) {
	timer := time.NewTimer(time.Until(late))
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

// take takes the rows of a batch, those that came first; none, if the other loop
// has taken them meanwhile.
func (q *Queue) take() (batch []share) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for left := q.o.MaxBatch; left > 0 && len(q.waiting) > 0; {
		r := q.waiting[0]
		s := share{r, r.taken, min(left, r.x.Shape[0]-r.taken)}
		if s.from == 0 {
			r.answer.Queued = time.Since(r.came)
		}
		batch, left = append(batch, s), left-s.rows
		r.taken, q.rows = r.taken+s.rows, q.rows-s.rows
		if r.taken == r.x.Shape[0] {
			q.waiting = q.waiting[1:]
		}
	}
	if len(q.waiting) > 0 {
		q.signal() // to the other loop
	}
	return batch
}

// compute runs a batch and answers the requests that are complete with it.
func (q *Queue) compute(batch []share, room tensor.Tensor) {
	x := gather(batch, room)
	began := time.Now()
	outs, err := q.run(x)
	took := time.Since(began)
	if q.o.Ran != nil {
		q.o.Ran(x.Shape[0], took)
	}
	n := 0
	for _, s := range batch {
		if err != nil {
			q.fail(s.r, err)
		} else {
			q.give(s, outs, n, took)
		}
		n += s.rows
	}
}

// gather returns the rows of a batch: those of one request as they lie, if a
// device can take them so, else in room.
func gather(batch []share, room tensor.Tensor) tensor.Tensor {
	if s := batch[0]; len(batch) == 1 && s.r.x.Aligned() {
		return s.r.x.Rows(s.from, s.from+s.rows)
	}
	n := 0
	for _, s := range batch {
		copy(room.Rows(n, n+s.rows).Bytes, s.r.x.Rows(s.from, s.from+s.rows).Bytes)
		n += s.rows
	}
	return room.Rows(0, n)
}

// fail answers a request with an error, unless it has one.
func (q *Queue) fail(r *request, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(r)
	if r.err == nil {
		r.err = err
		close(r.ready)
	}
}

// give copies the outputs of a share, which are those from a row of the batch
// on, and answers its request if that has all. Other rows of it may be computed in
// the meantime.
func (q *Queue) give(s share, outs []tensor.Tensor, at int, took time.Duration) {
	r := s.r
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.answer.Outputs == nil {
		for _, o := range outs {
			shape := append([]int{r.x.Shape[0]}, o.Shape[1:]...)
			r.answer.Outputs = append(r.answer.Outputs, tensor.New(o.DType, shape...))
		}
	}
	for k, o := range outs {
		copy(r.answer.Outputs[k].Rows(s.from, s.from+s.rows).Bytes, o.Rows(at, at+s.rows).Bytes)
	}
	r.answer.Ran += took
	if r.done += s.rows; r.done == r.x.Shape[0] && r.err == nil {
		close(r.ready)
	}
}
