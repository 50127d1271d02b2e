package cpu

import (
	"sync"
	"sync/atomic"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// pool is a fixed set of workers. The caller of each is one of them, the
// others are helpers, which wait for work: first awake, for a short time, then
// asleep.
type pool struct {
	workers []*worker
	helpers []*helper
	running sync.WaitGroup
}

// worker is a thread of execution with memory of its own, whose contents mean
// nothing between tasks.
type worker struct {
	index int
	tile  kernel.Scratch
	room  []float32
	wide  []float64
	views [5][]float32 // of operands
	tiles tiles
}

// floats returns n values of the worker's own memory, not cleared.
func (w *worker) floats(n int) []float32 {
	if len(w.room) < n {
		w.room = make([]float32, n)
	}
	return w.room[:n]
}

// doubles returns n values of the worker's own memory, not cleared.
func (w *worker) doubles(n int) []float64 {
	if len(w.wide) < n {
		w.wide = make([]float64, n)
	}
	return w.wide[:n]
}

// job is one call of each.
type job struct {
	tasks int64
	next  atomic.Int64
	do    func(w *worker, task int)
	left  atomic.Int32 // helpers that are not done
	done  chan struct{}
}

// newPool starts a pool of so many workers.
func newPool(threads int) *pool {
	p := &pool{}
	for i := range threads {
		w := &worker{index: i}
		p.workers = append(p.workers, w)
		if i == 0 {
			continue
		}
		h := &helper{worker: w, wake: make(chan struct{}, 1)}
		p.helpers = append(p.helpers, h)
		p.running.Go(h.run)
	}
	return p
}

// each calls do for every task from 0 to tasks-1, on all workers, in no order.
func (p *pool) each(tasks int, do func(w *worker, task int)) {
	n := min(tasks, len(p.workers)) - 1
	if n <= 0 {
		for i := range tasks {
			do(p.workers[0], i)
		}
		return
	}
	j := &job{tasks: int64(tasks), do: do, done: make(chan struct{})}
	j.left.Store(int32(n))
	for _, h := range p.helpers[:n] {
		h.give(j)
	}
	j.work(p.workers[0])
	j.wait()
}

// work takes tasks until none is left.
func (j *job) work(w *worker) {
	for i := j.next.Add(1) - 1; i < j.tasks; i = j.next.Add(1) - 1 {
		j.do(w, int(i))
	}
}

// wait waits until all helpers are done.
func (j *job) wait() {
	for range awake {
		if j.left.Load() == 0 {
			return
		}
	}
	<-j.done
}

// close ends the helpers and waits for them.
func (p *pool) close() {
	for _, h := range p.helpers {
		h.give(nil)
	}
	p.running.Wait()
}

// awake is how often somebody who waits looks before sleeping: some ten
// microseconds, less than it takes to be woken up.
const awake = 20000

// helper is a worker that waits for jobs.
type helper struct {
	worker *worker
	mail   atomic.Pointer[letter]
	asleep atomic.Bool
	wake   chan struct{}
}

// letter brings a helper a job; nil ends it.
type letter struct{ job *job }

// give hands a job to the helper, which must have none.
func (h *helper) give(j *job) {
	h.mail.Store(&letter{j})
	if h.asleep.Swap(false) {
		h.wake <- struct{}{}
	}
}

// run works on jobs until it is ended.
func (h *helper) run() {
	for {
		j := h.next()
		if j == nil {
			return
		}
		j.work(h.worker)
		if j.left.Add(-1) == 0 {
			close(j.done)
		}
	}
}

// next waits for a job.
func (h *helper) next() *job {
	for {
		for range awake {
			if h.mail.Load() != nil {
				return h.mail.Swap(nil).job
			}
		}
		h.asleep.Store(true)
		if h.mail.Load() != nil { // it came in between
			if !h.asleep.Swap(false) {
				<-h.wake
			}
			return h.mail.Swap(nil).job
		}
		<-h.wake // for a letter that is there, or late for one that was read
	}
}
