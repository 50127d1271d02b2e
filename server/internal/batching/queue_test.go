package batching

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// double returns twice the value of each row.
func double(x tensor.Tensor) ([]tensor.Tensor, error) {
	y := tensor.New(tensor.F32, x.Shape...)
	for i, v := range x.F32() {
		y.F32()[i] = 2 * v
	}
	return []tensor.Tensor{y}, nil
}

func column(from, n int) tensor.Tensor {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(from + i)
	}
	return tensor.Of(v, n, 1)
}

// TestEveryRequestGetsItsOwn checks that every request gets the outputs of its rows, in whatever batches
// they are computed.
func TestEveryRequestGetsItsOwn(t *testing.T) {
	for seed := range uint64(20) {
		draw := rand.New(rand.NewPCG(seed, 0))
		o := Options{MaxBatch: 1 + draw.IntN(7), MaxQueue: 1 << 20,
			MaxDelay: time.Duration(draw.IntN(2)) * time.Millisecond}
		o.OnBatch = func(rows int, _ time.Duration) {
			if rows < 1 || rows > o.MaxBatch {
				t.Errorf("a batch of %d rows, at most %d", rows, o.MaxBatch)
			}
		}
		q := New(tensor.F32, []int{1}, o, double)
		var all sync.WaitGroup
		for i := range 60 {
			n, wait := 1+draw.IntN(15), time.Duration(draw.IntN(300))*time.Microsecond
			all.Go(func() {
				time.Sleep(wait)
				x := column(100*i, n)
				a, err := q.Do(t.Context(), x)
				want, _ := double(x)
				if err != nil || !slices.Equal(a.Outputs[0].F32(), want[0].F32()) {
					t.Errorf("request %d of %d rows: %v", i, n, err)
				}
			})
		}
		all.Wait()
		q.Close()
	}
}

// held has a Run function that stops until the test continues it: when it is called it sends on began, and
// then waits for goOn.
type held struct{ began, goOn chan int }

func (h held) run(x tensor.Tensor) ([]tensor.Tensor, error) {
	h.began <- x.Shape[0]
	<-h.goOn
	return double(x)
}

func newHeld() held { return held{make(chan int), make(chan int)} }

// TestWhatQueuedIsABatch checks that rows that arrive while a batch is computed become the next batch.
func TestWhatQueuedIsABatch(t *testing.T) {
	h := newHeld()
	q := New(tensor.F32, []int{1}, Options{MaxBatch: 8, MaxQueue: 100}, h.run)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { _, _ = q.Do(t.Context(), column(i, 1)) })
		if i == 0 {
			<-h.began
		}
	}
	for q.Waiting() < 3 {
		time.Sleep(time.Millisecond)
	}
	h.goOn <- 0
	if n := <-h.began; n != 3 {
		t.Errorf("the second batch has %d rows, want 3", n)
	}
	h.goOn <- 0
	all.Wait()
	q.Close()
}

// TestFullAndCanceled checks that a full queue refuses a request at once, and that a request is removed from
// the queue when its context ends.
func TestFullAndCanceled(t *testing.T) {
	h := newHeld()
	q := New(tensor.F32, []int{1}, Options{MaxBatch: 1, MaxQueue: 2}, h.run)
	var all sync.WaitGroup
	all.Go(func() { _, _ = q.Do(t.Context(), column(0, 1)) })
	<-h.began
	ctx, stop := context.WithCancel(t.Context())
	gave := make(chan error)
	go func() {
		_, err := q.Do(ctx, column(0, 2))
		gave <- err
	}()
	for q.Waiting() < 2 {
		time.Sleep(time.Millisecond)
	}
	if _, err := q.Do(t.Context(), column(0, 1)); !errors.Is(err, Full) {
		t.Errorf("a third row: %v", err)
	}
	stop()
	if err := <-gave; !errors.Is(err, context.Canceled) || q.Waiting() != 0 {
		t.Errorf("%v, and %d rows wait", err, q.Waiting())
	}
	h.goOn <- 0
	all.Wait()
	q.Close()
	if _, err := q.Do(t.Context(), column(0, 1)); !errors.Is(err, Closed) {
		t.Errorf("closed: %v", err)
	}
}

// TestErrors checks that the error of a batch is returned for every request of the batch and for no other
// request. One of the requests has further rows that still wait.
func TestErrors(t *testing.T) {
	bad, calls := errors.New("bad"), 0
	run := func(x tensor.Tensor) ([]tensor.Tensor, error) {
		if calls++; calls == 1 {
			return nil, bad
		}
		return double(x)
	}
	q := New(tensor.F32, []int{1}, Options{MaxBatch: 2, MaxQueue: 9}, run)
	if _, err := q.Do(t.Context(), column(0, 5)); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	if a, err := q.Do(t.Context(), column(4, 1)); err != nil || a.Outputs[0].F32()[0] != 8 {
		t.Errorf("the next: %v", err)
	}
	q.Close()
	if calls != 2 {
		t.Errorf("%d batches, want 2: rows of the failed request were computed", calls)
	}
}

// TestCloseAnswers checks that requests that wait are answered after Close.
func TestCloseAnswers(t *testing.T) {
	h := newHeld()
	q := New(tensor.F32, []int{1}, Options{MaxBatch: 1, MaxQueue: 9}, h.run)
	answered := make(chan error, 3)
	for i := range 3 {
		go func() {
			_, err := q.Do(t.Context(), column(i, 1))
			answered <- err
		}()
	}
	<-h.began
	for q.Waiting() < 2 {
		time.Sleep(time.Millisecond)
	}
	go q.Close()
	for i := range 3 {
		h.goOn <- 0
		if i < 2 {
			<-h.began
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// TestRowsAsTheyLie checks that the rows of a single request are passed to the function without a copy,
// unless their address is not aligned for their type.
func TestRowsAsTheyLie(t *testing.T) {
	var lay []*byte
	run := func(x tensor.Tensor) ([]tensor.Tensor, error) {
		lay = append(lay, &x.Bytes[0])
		return double(x) // panics if x is not aligned
	}
	q := New(tensor.F32, []int{1}, Options{MaxBatch: 4, MaxQueue: 9}, run)
	defer q.Close()
	whole := tensor.New(tensor.F32, 3)
	at := &whole.Bytes[4]
	for from := 4; from <= 5; from++ {
		x := tensor.Tensor{DType: tensor.F32, Shape: []int{1, 1}, Bytes: whole.Bytes[from : from+4]}
		if _, err := q.Do(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	if lay[0] != at || lay[1] == &whole.Bytes[5] {
		t.Errorf("rows lie at %p and %p, want %p and a copy", lay[0], lay[1], at)
	}
}

// TestLimits checks that rows with limits are computed with their limits, and never in a batch with rows
// without limits.
func TestLimits(t *testing.T) {
	for seed := range uint64(10) {
		draw := rand.New(rand.NewPCG(seed, 1))
		o := Options{MaxBatch: 1 + draw.IntN(7), MaxQueue: 1 << 20, Ahead: seed%2 == 1}
		o.Limited = func(x, limits tensor.Tensor) ([]tensor.Tensor, error) {
			if limits.Shape[0] != x.Shape[0] || limits.Shape[1] != 2 {
				t.Errorf("limits %v for rows %v", limits, x)
			}
			y := tensor.New(tensor.F32, x.Shape...)
			for i, v := range x.F32() {
				y.F32()[i] = v + limits.F32()[2*i] - limits.F32()[2*i+1]
			}
			return []tensor.Tensor{y}, nil
		}
		q := New(tensor.F32, []int{1}, o, double)
		var all sync.WaitGroup
		for i := range 60 {
			n, wait := 1+draw.IntN(5), time.Duration(draw.IntN(200))*time.Microsecond
			all.Go(func() {
				time.Sleep(wait)
				r := Rows{X: column(100*i, n)}
				want, _ := double(r.X)
				if i%2 == 0 {
					r.Limits = tensor.New(tensor.F32, n, 2)
					for k := range n {
						r.Limits.F32()[2*k], r.Limits.F32()[2*k+1] = float32(i), float32(7*k)
						want[0].F32()[k] = r.X.F32()[k] + float32(i-7*k)
					}
				}
				a, err := q.DoRows(t.Context(), r)
				if err != nil || !slices.Equal(a.Outputs[0].F32(), want[0].F32()) {
					t.Errorf("request %d of %d rows: %v", i, n, err)
				}
			})
		}
		all.Wait()
		q.Close()
	}
}
