package workers

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a fixed set of workers. The caller of each is one of them, the
// others are helpers. While a run is under way they stay awake, since the next
// work is microseconds off; between runs they soon sleep.
//
// A job is given away by one atomic word: a worker takes a task by making it
// smaller. The caller never waits for a helper that has taken none: one that
// sleeps, or has lost its core, costs nothing.
//
// Of a job with as many tasks for each worker everybody takes his own first, and then what others have not
// begun: so the worker that has written a part of an image reads the same part in the next job, from its own
// cache. The tasks of a worker follow each other; their bits lie as many apart as there are workers.
//
//	open, tasks in order    job | number that is not taken
//	open, as many each      job | exclusive | bits of those that are not taken
type Pool struct {
	Workers []*Worker
	running sync.WaitGroup

	// Fault, if it is set, replaces the function of a call of Each. Only tests set it: see run.RangeOf.
	Fault func(tasks int, do func(w *Worker, task int)) func(w *Worker, task int)

	// The job. A worker that has taken a task reads it; it is written when all its
	// tasks are done.
	do    func(w *Worker, task int)
	tasks int

	_      [cacheLine]byte
	open   atomic.Uint64 // number of the job << 32 | its tasks that are not taken; these 0 without any
	_      [cacheLine]byte
	undone atomic.Int64 // tasks of the job
	_      [cacheLine]byte
	runs   atomic.Int32 // under way
	closed atomic.Bool
	work   bell // there are tasks; for helpers
	done   bell // there are none left; for the caller of each
}

const cacheLine = 64

// exclusive says that there are as many tasks for each worker, MostOwn in all at most: bits below it.
const exclusive = 1 << 31

// MostOwn is up to how many tasks each worker takes those that are its own first.
const MostOwn = 30

// NewPool starts a pool of that number of workers.
func NewPool(threads int) *Pool {
	p := &Pool{}
	for i := range threads {
		w := &Worker{Index: i}
		p.Workers = append(p.Workers, w)
		if i > 0 {
			p.running.Go(func() { p.help(w) })
		}
	}
	return p
}

// KeepAwake wakes the helpers and keeps them awake until LetSleep.
func (p *Pool) KeepAwake() {
	p.runs.Add(1)
	p.work.ring()
}

// LetSleep says that the run is over.
func (p *Pool) LetSleep() { p.runs.Add(-1) }

// Each calls do for every task from 0 to tasks-1, on all workers, in no order.
func (p *Pool) Each(tasks int, do func(w *Worker, task int)) {
	if p.Fault != nil {
		do = p.Fault(tasks, do)
	}
	if tasks <= 1 || len(p.Workers) == 1 {
		for i := range tasks {
			do(p.Workers[0], i)
		}
		return
	}
	p.do, p.tasks = do, tasks
	p.undone.Store(int64(tasks))
	open := uint64(tasks)
	if tasks%len(p.Workers) == 0 && tasks <= MostOwn {
		open = exclusive | 1<<tasks - 1
	}
	p.open.Store((p.open.Load()>>32+1)<<32 | open)
	p.work.ring()
	p.take(p.Workers[0])
	for s := (spin{}); p.undone.Load() != 0; {
		if !s.more(attentive) {
			p.done.sleep(func() bool { return p.undone.Load() == 0 })
		}
	}
}

// take takes tasks until all are taken, and reports whether it got any.
func (p *Pool) take(w *Worker) bool {
	took := int64(0)
	for {
		open := p.open.Load()
		if uint32(open) == 0 {
			break
		}
		task, next := -1, open-1
		if open&exclusive != 0 {
			task, next = ofOwn(open, w.Index, len(p.Workers))
		}
		if p.open.CompareAndSwap(open, next) {
			if task < 0 {
				task = p.tasks - int(uint32(open))
			} else {
				task = ownTask(task, len(p.Workers), p.tasks)
			}
			p.do(w, task)
			took++
		}
	}
	if took > 0 && p.undone.Add(-took) == 0 {
		p.done.ring()
	}
	return took > 0
}

// ofOwn returns the bit of the task that a worker of several takes, where there are as many for each, and
// what is open then: the first of its own, or the last of another.
func ofOwn(open uint64, worker, of int) (task int, next uint64) {
	left := uint32(open) &^ exclusive
	task = bits.Len32(left) - 1
	for bit := worker; bit <= task; bit += of {
		if left>>bit&1 != 0 {
			task = bit
			break
		}
	}
	if next = open &^ (1 << task); left == 1<<task {
		next &^= exclusive
	}
	return task, next
}

// ownTask returns the task of a bit: those of a worker of several follow each other.
func ownTask(bit, of, tasks int) int { return bit%of*(tasks/of) + bit/of }

// How long a waiting worker stays awake: a helper between runs, and everybody while a
// run is under way. To be woken up takes some ten microseconds; a longer wait
// leaves the core to others.
const (
	awake     = 50 * time.Microsecond
	attentive = 200 * time.Microsecond
)

// help takes tasks of job after job until the pool is closed.
func (p *Pool) help(w *Worker) {
	s := spin{}
	for !p.closed.Load() {
		limit := awake
		if p.runs.Load() != 0 {
			limit = attentive
		}
		if p.take(w) {
			s = spin{}
		} else if !s.more(limit) {
			p.work.sleep(func() bool { return uint32(p.open.Load()) != 0 || p.closed.Load() })
			s = spin{}
		}
	}
}

// Close ends the helpers and waits for them.
func (p *Pool) Close() {
	p.closed.Store(true)
	p.work.ring()
	p.running.Wait()
}
