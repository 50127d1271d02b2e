package batching

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// TestOneBatchAhead checks that with Options.Ahead two batches may be in progress at the same time, and never
// three.
func TestOneBatchAhead(t *testing.T) {
	h := newHeld()
	q := New(tensor.F32, []int{1}, Options{MaxBatch: 8, MaxQueue: 100, Ahead: true}, h.run)
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			a, err := q.Do(t.Context(), column(i, 1))
			if err != nil || a.Outputs[0].F32()[0] != float32(2*i) {
				t.Errorf("request %d: %v", i, err)
			}
		})
		if i < 2 {
			if n := <-h.began; n != 1 {
				t.Errorf("batch %d has %d rows, want 1", i, n)
			}
		}
	}
	for q.Waiting() < 3 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-h.began:
		t.Error("three batches are under way")
	case <-time.After(10 * time.Millisecond):
	}
	h.goOn <- 0
	if n := <-h.began; n != 3 {
		t.Errorf("the third batch has %d rows, want 3", n)
	}
	h.goOn <- 0
	h.goOn <- 0
	all.Wait()
	q.Close()
}

// TestARequestInTwoBatchesAtOnce tests a request with rows in two batches that are computed at the same time.
// It must get the outputs for all rows, or the error of one of the batches.
func TestARequestInTwoBatchesAtOnce(t *testing.T) {
	broken := errors.New("broken")
	var runs, fails atomic.Int64
	run := func(x tensor.Tensor) ([]tensor.Tensor, error) {
		time.Sleep(100 * time.Microsecond)
		if runs.Add(1)%5 == 0 {
			fails.Add(1)
			return nil, broken
		}
		return double(x)
	}
	q := New(tensor.F32, []int{1}, Options{MaxBatch: 3, MaxQueue: 1 << 20, Ahead: true}, run)
	var all sync.WaitGroup
	var bad atomic.Int64
	for i := range 200 {
		all.Go(func() {
			x := column(100*i, 1+i%11)
			a, err := q.Do(t.Context(), x)
			want, _ := double(x)
			switch {
			case errors.Is(err, broken):
				bad.Add(1)
			case err != nil || !slices.Equal(a.Outputs[0].F32(), want[0].F32()):
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	all.Wait()
	q.Close()
	if bad.Load() == 0 || fails.Load() == 0 {
		t.Error("nothing failed")
	}
}
