package workers

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a fixed set of workers. The caller of Each is one of them, the others
// are helpers. During a run they stay awake, because the next work is
// microseconds away; between runs they soon sleep.
//
// A job is distributed through one atomic word: a worker claims a task by
// decreasing it. The caller never waits for a helper without a task: a helper
// that sleeps, or has lost its core, costs nothing.
//
// If a job has the same number of tasks for each worker, every worker first runs its own tasks, and then
// tasks that other workers have not started. So the worker that has written a part of an image reads the
// same part in the next job, from its cache. The tasks of a worker are consecutive, but with n workers
// their bits are n apart.
//
//	open, tasks in order        job | number of unclaimed tasks
//	open, equal shares          job | exclusive | bits of unclaimed tasks
type Pool struct {
	Workers []*Worker
	running sync.WaitGroup

	// Fault, if it is set, replaces the function of a call of Each. Only tests set it: see schedule.RangeOf.
	Fault func(tasks int, do func(w *Worker, task int)) func(w *Worker, task int)

	// The job. A worker reads it after it has claimed a task. It is written when all its
	// tasks are done.
	do    func(w *Worker, task int)
	tasks int
	fault atomic.Pointer[Panic] // the first panic of a task

	_      [cacheLine]byte
	open   atomic.Uint64 // number of the job << 32 | its unclaimed tasks
	_      [cacheLine]byte
	undone atomic.Int64 // number of tasks of the job that are not done yet
	_      [cacheLine]byte
	runs   atomic.Int32 // number of runs in progress
	closed atomic.Bool
	work   bell // wakes helpers when there are tasks
	done   bell // wakes the caller of Each when all tasks are done
}

const cacheLine = 64

// exclusive is set in open if all workers have the same number of tasks, at most MostOwn in total. Each
// lower bit of open is then an unclaimed task.
const exclusive = 1 << 31

// MostOwn is the maximum number of tasks of a job, if each task has a preferred worker.
const MostOwn = 30

// NewPool starts a pool of the given number of workers. shared is for a process that also does
// other work: sleeping workers leave their threads to its goroutines, and wake a little later.
func NewPool(threads int, shared bool) *Pool {
	p := &Pool{}
	if shared {
		p.work.leaveThreads()
		p.done.leaveThreads()
	}
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

// LetSleep ends the effect of KeepAwake.
func (p *Pool) LetSleep() { p.runs.Add(-1) }

// Each calls do for every task from 0 to tasks-1, on all workers, in arbitrary order. If a
// task panics, Each panics once all tasks have ended, with a *Panic if it ran on several
// workers.
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
		if !s.mayContinue(attentive) {
			p.done.sleep(func() bool { return p.undone.Load() == 0 })
		}
	}
	if fault := p.fault.Swap(nil); fault != nil {
		panic(fault)
	}
}

// take runs tasks until all are claimed, and reports whether it ran any.
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
			p.run(w, task)
			took++
		}
	}
	if took > 0 && p.undone.Add(-took) == 0 {
		p.done.ring()
	}
	return took > 0
}

// ofOwn returns the bit of the next task for one of several workers with equal shares, and the new value of
// open. The task is the first one of this worker that is left, or else the last one of another worker.
func ofOwn(open uint64, worker, workers int) (task int, next uint64) {
	left := uint32(open) &^ exclusive
	task = bits.Len32(left) - 1
	for bit := worker; bit <= task; bit += workers {
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

// ownTask returns the task of a bit. The tasks of each worker are consecutive.
func ownTask(bit, workers, tasks int) int { return bit%workers*(tasks/workers) + bit/workers }

// These are times that a waiting worker stays awake: a helper between runs, and all workers during a run.
// Waking a worker costs some ten microseconds. In longer waits the core is left to other threads.
const (
	awake     = 50 * time.Microsecond
	attentive = 200 * time.Microsecond
)

// help runs tasks of one job after another until the pool is closed.
func (p *Pool) help(w *Worker) {
	s := spin{}
	for !p.closed.Load() {
		limit := awake
		if p.runs.Load() != 0 {
			limit = attentive
		}
		if p.take(w) {
			s = spin{}
		} else if !s.mayContinue(limit) {
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
