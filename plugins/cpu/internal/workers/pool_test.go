package workers

import (
	"sync/atomic"
	"testing"
)

func TestPoolRunsEveryTaskOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		p := NewPool(threads)
		for round := range 300 {
			tasks := round % 7 * (round % 3)
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
