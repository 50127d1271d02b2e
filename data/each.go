package data

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// eachSample calls f for 0 to n-1 on all cores. It returns the error for the smallest of these numbers that
// failed.
func eachSample(n int, f func(i int) error) error {
	var next atomic.Int64
	var stop atomic.Bool
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	failed := make([]int, workers) // smallest i that failed, by worker
	errs := make([]error, workers)
	for w := range workers {
		wait.Go(func() {
			for !stop.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if failed[w], errs[w] = i, f(i); errs[w] != nil {
					stop.Store(true)
					return
				}
			}
		})
	}
	wait.Wait()
	best := -1
	for w, err := range errs {
		if err != nil && (best < 0 || failed[w] < failed[best]) {
			best = w
		}
	}
	if best < 0 {
		return nil
	}
	return errs[best]
}
