package workers

import (
	"sync/atomic"
	"testing"
)

func TestPoolRunsEveryTaskOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		p := NewPool(threads)
		for round := range 300 {
			tasks := round % 7 * (round % 3) // as many as there are threads among them
			ran, busy := make([]atomic.Int32, tasks), make([]atomic.Int32, threads)
			p.Each(tasks, func(w *Worker, i int) {
				if busy[w.Index].Add(1) != 1 {
					t.Errorf("worker %d has two tasks at a time", w.Index)
				}
				ran[i].Add(1)
				busy[w.Index].Add(-1)
			})
			for i := range ran {
				if n := ran[i].Load(); n != 1 {
					t.Errorf("%d threads: task %d of %d ran %d times", threads, i, tasks, n)
				}
			}
		}
		p.Close()
	}
}

// Of a task for each, everybody takes his own, unless another has been quicker.
func TestOwnTasks(t *testing.T) {
	const job = 7 << 32
	for _, c := range []struct {
		left   uint64
		worker int
		task   int
		next   uint64
	}{
		{exclusive | 0b111, 0, 0, exclusive | 0b110},
		{exclusive | 0b111, 2, 2, exclusive | 0b011},
		{exclusive | 0b101, 1, 0, exclusive | 0b100},
		{exclusive | 0b100, 0, 2, 0},
		{exclusive | 0b100, 2, 2, 0},
	} {
		if task, next := ofOwn(job|c.left, c.worker); task != c.task || next != job|c.next {
			t.Errorf("worker %d of %b: task %d, then %b; want %d, %b", c.worker, c.left, task, next, c.task, c.next)
		}
	}
}
