package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/internal/fabrictest"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/tensor"
)

// ending is a fabric inside this process that reports its end.
type ending struct {
	fabric.Fabric
	all  []*ending
	once sync.Once
	over chan struct{}
	why  error
}

func (e *ending) end(cause string) {
	e.once.Do(func() {
		e.why = fmt.Errorf("%w: %s", fabric.Ended, cause)
		close(e.over)
	})
}

func (e *ending) Abort(cause string) {
	e.Fabric.Abort(cause)
	for _, other := range e.all {
		other.end(cause)
	}
}

func (e *ending) Close() error {
	defer e.end("it was closed")
	return e.Fabric.Close()
}

// near returns ranks that have links with each other, over a fabric inside this process.
func near(ctx context.Context, size int) ([]fabric.Fabric, error) {
	all, errs := make([]fabric.Fabric, size), make([]error, size)
	under := make([]*ending, size)
	for i, r := range inprocess.New(size) {
		under[i] = &ending{Fabric: r, all: under, over: make(chan struct{})}
	}
	var wait sync.WaitGroup
	for i, e := range under {
		wait.Go(func() {
			all[i], errs[i] = newIntraNode(ctx, e, e.over, func() error { return e.why }, time.Minute)
		})
	}
	wait.Wait()
	return all, errors.Join(errs...)
}

// TestNeighboursAreAFabric checks the rules of a fabric if all messages go through shared memory.
func TestNeighboursAreAFabric(t *testing.T) {
	for _, c := range fabrictest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(t.Context(), near); err != nil {
				t.Errorf("%s\n%v", c.Rule, err)
			}
		})
	}
}

// TestNeighboursMeet checks that only ranks with near numbers have links.
func TestNeighboursMeet(t *testing.T) {
	all, err := near(t.Context(), maxDistance+2)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		for j, l := range r.(*intraNode).links {
			if want := i != j && max(i-j, j-i) <= maxDistance; (l != nil) != want {
				t.Errorf("ranks %d and %d: link %v, want %v", i, j, l != nil, want)
			}
		}
	}
	var wait sync.WaitGroup
	for _, r := range all {
		wait.Go(func() { _ = r.Close() })
	}
	wait.Wait()
}

// pair returns the two sides of a link that is being set up.
func pair() (low, high *pairing) {
	return &pairing{rank: 0, peer: 1, machine: machineName()},
		&pairing{rank: 1, peer: 0, machine: machineName()}
}

// TestOtherMachines checks that ranks get no link if they name different machines, or if their paths lead to
// different memory.
func TestOtherMachines(t *testing.T) {
	for _, spoil := range []func(m *hello){
		func(m *hello) { m.Machine += "x" },
		func(m *hello) { m.Mark[0]++ },
		func(m *hello) { m.Segment = "/proc/self/fd/0" },
		func(m *hello) { *m = hello{} },
	} {
		low, high := pair()
		offer := low.offer(hello{})
		spoil(&offer)
		answer := high.answer(offer)
		if answer.Agreed || low.agree(answer).Agreed || low.link(false) != nil || high.link(false) != nil {
			t.Errorf("%+v is taken", offer)
		}
	}
	low, high := pair()
	answer := high.answer(low.offer(hello{}))
	answer.Mark[1]++
	if !answer.Agreed || low.agree(answer).Agreed {
		t.Errorf("%+v is taken", answer)
	}
	low.end()
	high.end()
}

// TestSumsOfNeighbours adds values in pools in place, repeatedly, and compares the bits
// with the bits for copied values.
func TestSumsOfNeighbours(t *testing.T) {
	const n, rounds = 50_001, 200
	all, err := near(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	lent := make([]int, len(all))
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, r := range all {
		pool := pooled(t)
		wait.Go(func() {
			p := fabric.New(&counting{r.(*intraNode), &lent[i]}, time.Minute)
			errs[i] = errors.Join(sumOver(p, pool, n, rounds), p.Close())
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, n := range lent {
		if n < rounds {
			t.Errorf("rank %d has lent %d messages of %d", i, n, 4*rounds)
		}
	}
}

// counting counts the lent messages.
type counting struct {
	*intraNode
	lent *int
}

func (c *counting) Lend(ctx context.Context, to int, lane collective.Lane, pieces ...[]byte) (bool, error) {
	lent, err := c.intraNode.Lend(ctx, to, lane, pieces...)
	if lent {
		*c.lent++
	}
	return lent, err
}

// sumOver sums values that are in the same memory of a pool each time: a large and a small one.
func sumOver(p *fabric.Peers, pool *shm.Pool, n, rounds int) error {
	u := fabric.NewUplink(p, []int{1, 1, 1})
	value := func(n int) collective.Reduction {
		t := tensor.Tensor{DType: tensor.F32, Shape: []int{n}, Bytes: pool.Alloc(4 * n)}
		return collective.Reduction{Op: collective.Sum, Result: t,
			Partials: []collective.Partial{{Node: u.Nodes()[0], Value: t}}}
	}
	values := []collective.Reduction{value(3), value(n), value(100), value(n + 1)}
	term := func(round, rank, i int) float32 {
		return float32(i%1000)*0.37 + float32(round)/3 + float32(rank)*1e3
	}
	for round := range rounds {
		for _, v := range values {
			for i := range v.Result.F32() {
				v.Result.F32()[i] = term(round, p.Rank(), i)
			}
		}
		tag := collective.Tag{Lane: collective.Gradients, Sequence: uint64(round)}
		if err := u.Complete(context.Background(), tag, values); err != nil {
			return err
		}
		for _, v := range values {
			for i, got := range v.Result.F32() {
				want := term(round, 0, i) + term(round, 1, i) // the first two of three leaves are added first
				if want += term(round, 2, i); got != want {
					return errors.New("a sum has other bits")
				}
			}
		}
	}
	return nil
}

// TestLinkWaitsForWriters checks that a write that outlasts its call ends before close
// returns, and that no write begins afterwards.
func TestLinkWaitsForWriters(t *testing.T) {
	all, err := near(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	l := all[0].(*intraNode).links[1]
	l.writing.Lock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = l.send(ctx, make(chan struct{}), collective.Gradients, [][]byte{make([]byte, 1)}, nil)
	if !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("send: %v, want %v", err, context.Canceled)
	}
	sending := l.background(func() { _ = l.write(wire.Frame{}) })
	closed := make(chan struct{})
	go func() {
		l.close()
		close(closed)
	}()
	select {
	case <-closed:
		t.Error("close returned while a write was under way")
	case <-time.After(50 * time.Millisecond):
	}
	l.writing.Unlock()
	<-closed
	if !sending || l.background(func() {}) {
		t.Error("a write began on a closed link, or none on an open one")
	}
	for _, r := range all {
		_ = r.Close()
	}
}
