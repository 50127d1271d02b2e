package workers

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

func TestPoolRunsEveryTaskOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 5, -5} { // below 0: shared with other goroutines
		p := NewPool(max(threads, -threads), threads < 0)
		for round := range 300 {
			tasks := round % 7 * (round % 3) // numbers of tasks, including the number of threads and twice that number
			ran, busy := make([]atomic.Int32, tasks), make([]atomic.Int32, len(p.Workers))
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

// If a task panics, on whatever worker, Each panics. All other tasks still run, and so do later jobs.
func TestPanicsOfTasks(t *testing.T) {
	broken := errors.New("broken")
	for _, threads := range []int{1, 2, 5} {
		p := NewPool(threads, true)
		for round := range 100 {
			var ran atomic.Int32
			fault := func() (v any) {
				defer func() { v = recover() }()
				p.Each(20, func(_ *Worker, i int) {
					ran.Add(1)
					if i == round%20 {
						panic(broken)
					}
				})
				return nil
			}()
			if err, ok := fault.(error); !ok || !errors.Is(err, broken) {
				t.Fatalf("%d threads: Each panics with %v, want %v", threads, fault, broken)
			}
			if n := ran.Load(); threads > 1 && n != 20 {
				t.Errorf("%d threads: %d tasks ran, want 20", threads, n)
			}
			ran.Store(0)
			if p.Each(7, func(*Worker, int) { ran.Add(1) }); ran.Load() != 7 {
				t.Errorf("%d threads: %d tasks ran after a panic, want 7", threads, ran.Load())
			}
		}
		p.Close()
	}
}

// If all workers have the same number of tasks, each worker runs its tasks in order, unless
// faster workers claim some of them from the end.
func TestOwnTasks(t *testing.T) {
	const job = 7 << 32
	for _, c := range []struct {
		left   uint64
		worker int
		of     int
		task   int
		next   uint64
	}{
		{exclusive | 0b111, 0, 3, 0, exclusive | 0b110},
		{exclusive | 0b111, 2, 3, 2, exclusive | 0b011},
		{exclusive | 0b101, 1, 3, 2, exclusive | 0b001},
		{exclusive | 0b100, 0, 3, 2, 0},
		{exclusive | 0b100, 2, 3, 2, 0},
		{exclusive | 0b11111111, 1, 2, 1, exclusive | 0b11111101},
		{exclusive | 0b11101001, 0, 2, 0, exclusive | 0b11101000},
		{exclusive | 0b11101000, 0, 2, 6, exclusive | 0b10101000},
		{exclusive | 0b10101000, 0, 2, 7, exclusive | 0b00101000},
		{exclusive | 0b00000010, 0, 2, 1, 0},
	} {
		if task, next := ofOwn(job|c.left, c.worker, c.of); task != c.task || next != job|c.next {
			t.Errorf("worker %d of %d, %b left: task %d, then %b; want %d, %b", c.worker, c.of, c.left, task, next,
				c.task, c.next)
		}
	}
}

// TestOwnTasksFollow checks that the tasks that a worker prefers are consecutive.
func TestOwnTasksFollow(t *testing.T) {
	var got []int
	for worker := range 3 {
		for bit := worker; bit < 12; bit += 3 {
			got = append(got, ownTask(bit, 3, 12))
		}
	}
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("the tasks of three workers, one after the other, are %v, want %v", got, want)
	}
}
