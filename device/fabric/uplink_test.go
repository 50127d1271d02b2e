package fabric_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/tensor"
)

// onRanks calls f for every rank of an in-process fabric and returns the errors by rank.
func onRanks(size int, f func(p *fabric.Peers) error) []error {
	errs := make([]error, size)
	var wait sync.WaitGroup
	for i, r := range inprocess.New(size) {
		wait.Go(func() {
			p := fabric.New(r, 20*time.Second)
			errs[i] = errors.Join(f(p), p.Close())
		})
	}
	wait.Wait()
	return errs
}

// value is a value that is reduced, with the leaf of every replica.
type value struct {
	op     collective.Op
	leaves []tensor.Tensor // the zero Tensor: no rows
}

// draw returns random values of the given number of replicas. In some values, some replicas
// have no rows.
func draw(p *rand.Rand, replicas int) []value {
	var all []value
	empty := p.IntN(replicas + 1)
	for _, n := range []int{1, 7, 8200, 33} {
		v := value{op: collective.Sum}
		for r := range replicas {
			t := tensor.Tensor{}
			switch {
			case r >= empty && p.IntN(2) == 0:
			case n == 33:
				v.op = collective.MergeMoments
				t = tensor.New(tensor.F64, n)
				for i := range t.F64() {
					t.F64()[i] = p.NormFloat64() + 2
				}
				t.F64()[0] = float64(1 + p.IntN(9))
			default:
				t = tensor.New(tensor.F32, n)
				for i := range t.F32() {
					t.F32()[i] = float32(p.NormFloat64())
				}
			}
			v.leaves = append(v.leaves, t)
		}
		if n == 33 {
			v.op = collective.MergeMoments
		}
		all = append(all, v)
	}
	return all
}

// reductions returns the reductions of a rank that holds the replicas in held. Every second
// result overlaps a part.
func reductions(values []value, replicas int, held []int) []collective.Reduction {
	var out []collective.Reduction
	for i, v := range values {
		r := collective.Reduction{Op: v.op, Result: tensor.New(tensor.F32, 0)}
		for _, t := range v.leaves {
			if !t.IsZero() {
				r.Result = tensor.New(t.DType, t.Shape...)
			}
		}
		for _, n := range collective.Cover(replicas, held) {
			r.Partials = append(r.Partials, collective.Partial{Node: n,
				Value: collective.Reduce(v.op, n, func(i int) tensor.Tensor {
					if v.leaves[i].IsZero() {
						return tensor.Tensor{}
					}
					return v.leaves[i].Clone()
				})})
		}
		if i%2 == 0 && len(r.Partials) > 0 && !r.Partials[0].Value.IsZero() {
			r.Result = r.Partials[0].Value
		}
		out = append(out, r)
	}
	return out
}

// TestAnyNumberOfRanksGivesTheSameBits reduces values over 1 to 5 ranks of 1 to 3 members
// each. Some replicas have no value.
func TestAnyNumberOfRanksGivesTheSameBits(t *testing.T) {
	for seed := range uint64(12) {
		p := rand.New(rand.NewPCG(seed, 1))
		size, members := 1+int(seed)%5, 1+int(seed)%3
		replicas := size*members + p.IntN(4)
		values := draw(p, replicas)
		want := wholly(t, values, replicas)
		counts := make([]int, size)
		for i := range counts {
			counts[i] = members
		}
		counts[p.IntN(size)] += replicas - size*members
		errs := onRanks(size, func(peers *fabric.Peers) error {
			first := 0
			for _, n := range counts[:peers.Rank()] {
				first += n
			}
			hub := collective.NewHubBelow(fabric.NewUplink(peers, counts), replicas, members)
			defer hub.Wait()
			return meet(hub, values, replicas, first, counts[peers.Rank()], members, want)
		})
		if err := errors.Join(errs...); err != nil {
			t.Errorf("seed %d: %d ranks with %v of %d replicas: %v", seed, size, counts, replicas, err)
		}
	}
}

// wholly reduces values in one member that holds all replicas.
func wholly(t *testing.T, values []value, replicas int) [][]byte {
	t.Helper()
	var held []int
	for r := range replicas {
		held = append(held, r)
	}
	all := reductions(values, replicas, held)
	if err := collective.NewHub(replicas, 1).Member(0).Start(t.Context(), collective.Tag{}, all)(); err != nil {
		t.Fatal(err)
	}
	var want [][]byte
	for _, v := range all {
		want = append(want, v.Result.Bytes)
	}
	return want
}

// meet makes exchanges with the members of one rank: two in each of the two lanes.
func meet(hub *collective.Hub, values []value, replicas, first, count, members int, want [][]byte) error {
	errs := make([]error, members)
	var wait sync.WaitGroup
	for m := range members {
		var held []int
		for r := m * count / members; r < (m+1)*count/members; r++ {
			held = append(held, first+r)
		}
		wait.Go(func() {
			var started []func() error
			for i := range 4 {
				got := reductions(values, replicas, held)
				tag := collective.Tag{Lane: collective.Lane(i % 2), Sequence: uint64(i / 2)}
				done := hub.Member(m).Start(context.Background(), tag, got)
				started = append(started, func() error {
					if err := done(); err != nil {
						return err
					}
					for k, v := range got {
						if !bytes.Equal(v.Result.Bytes, want[k]) {
							return fmt.Errorf("member %d: value %d has other bits", m, k)
						}
					}
					return nil
				})
			}
			for _, done := range started {
				errs[m] = errors.Join(errs[m], done())
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// TestBytesOfASum compares the bytes that a rank sends for a large sum with the bound of
// (k+1) G (P-1)/P bytes.
func TestBytesOfASum(t *testing.T) {
	const n = 100_000
	for _, c := range []struct{ ranks, replicas, parts int }{{2, 2, 1}, {3, 3, 1}, {4, 8, 1}, {8, 8, 1},
		{3, 8, 2}} {
		counts := make([]int, c.ranks)
		for i := range c.replicas {
			counts[i%c.ranks]++
		}
		var mu sync.Mutex
		most := int64(0)
		errs := onRanks(c.ranks, func(p *fabric.Peers) error {
			u := fabric.NewUplink(p, counts)
			v := collective.Reduction{Op: collective.Sum, Result: tensor.New(tensor.F32, n)}
			for _, node := range u.Nodes() {
				v.Partials = append(v.Partials, collective.Partial{Node: node, Value: tensor.New(tensor.F32, n)})
			}
			tag := collective.Tag{Lane: collective.Gradients}
			err := u.Complete(t.Context(), tag, []collective.Reduction{v})
			mu.Lock()
			defer mu.Unlock()
			most = max(most, p.Sent(collective.Gradients))
			return err
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		bound := int64((c.parts + 1) * 4 * n * (c.ranks - 1) / c.ranks)
		t.Logf("%d ranks, %d replicas: %d bytes, bound %d", c.ranks, c.replicas, most, bound)
		if most < bound/2 || most > bound+bound/100+100 {
			t.Errorf("%d ranks with %v replicas: a rank sent %d bytes, the bound is %d", c.ranks, counts, most, bound)
		}
	}
}

// TestATurnThatIsCalledOff checks that if a rank calls a round off, all other ranks return from
// their exchanges, and that the next round receives no messages of the unfinished exchanges.
func TestATurnThatIsCalledOff(t *testing.T) {
	const size = 3
	errs := onRanks(size, func(p *fabric.Peers) error {
		u := fabric.NewUplink(p, []int{1, 1, 1})
		exchange := func(fill float32, sequence uint64) (float32, error) {
			v := collective.Reduction{Op: collective.Sum, Result: tensor.New(tensor.F32, 10_000)}
			part := tensor.New(tensor.F32, 10_000)
			for i := range part.F32() {
				part.F32()[i] = fill
			}
			v.Partials = []collective.Partial{{Node: u.Nodes()[0], Value: part}}
			tag := collective.Tag{Lane: collective.Gradients, Sequence: sequence}
			err := u.Complete(t.Context(), tag, []collective.Reduction{v})
			return v.Result.F32()[0], err
		}
		for turn := range 4 {
			if got, err := exchange(1, 0); err != nil || got != size {
				return fmt.Errorf("turn %d: %v, %v", turn, got, err)
			}
			if p.Rank() == turn%size {
				if err := p.CallOff(t.Context(), "a device is lost"); err != nil {
					return err
				}
			} else if _, err := exchange(100, 1); !errors.Is(err, collective.Aborted) {
				return fmt.Errorf("turn %d: an exchange with who called it off: %v", turn, err)
			}
			all, err := p.AllGather(t.Context(), []byte{byte(p.Rank()), byte(turn)})
			if err != nil {
				return err
			}
			for rank, r := range all {
				if !bytes.Equal(r, []byte{byte(rank), byte(turn)}) {
					return fmt.Errorf("turn %d: rank %d said %v", turn, rank, r)
				}
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestARankThatSaysNothing checks that a silent rank is reported as gone, but a slow one is
// not.
func TestARankThatSaysNothing(t *testing.T) {
	ranks := inprocess.New(2)
	p := fabric.New(ranks[0], 200*time.Millisecond)
	defer p.Close()
	began := time.Now()
	_, err := p.AllGather(t.Context(), nil)
	if !errors.Is(err, fabric.Ended) || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	slow := inprocess.New(2)
	a, b := fabric.New(slow[0], 400*time.Millisecond), fabric.New(slow[1], 400*time.Millisecond)
	defer a.Close()
	defer b.Close()
	go func() {
		time.Sleep(time.Second)
		_, _ = b.AllGather(context.Background(), nil)
	}()
	if _, err := a.AllGather(t.Context(), nil); err != nil {
		t.Errorf("a rank that shows heartbeats: %v", err)
	}
}

// TestRanksThatSayNothing checks that the error names all ranks that have been silent for as long as the
// rank that is waited for.
func TestRanksThatSayNothing(t *testing.T) {
	ranks := inprocess.New(4)
	p, other := fabric.New(ranks[0], 200*time.Millisecond), fabric.New(ranks[2], 200*time.Millisecond)
	defer p.Close()
	defer other.Close()
	_, err := p.AllGather(t.Context(), nil)
	if want := "rank 1 is gone, or rank 3: nothing was heard of them"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// suspended is a fabric of a process that is suspended during its first Receive.
type suspended struct {
	fabric.Fabric
	once sync.Once
}

func (s *suspended) Receive(ctx context.Context, from int, lane collective.Lane) ([]byte, error) {
	err := error(nil)
	s.once.Do(func() {
		time.Sleep(600 * time.Millisecond)
		<-ctx.Done()
		err = ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return s.Fabric.Receive(ctx, from, lane)
}

// TestSuspended checks that the time for which this process was suspended does not count as
// the peer's silence.
func TestSuspended(t *testing.T) {
	ranks := inprocess.New(2)
	a, b := fabric.New(&suspended{Fabric: ranks[0]}, 400*time.Millisecond), fabric.New(ranks[1], 0)
	defer a.Close()
	defer b.Close()
	go func() { _, _ = b.AllGather(context.Background(), []byte("here")) }()
	if all, err := a.AllGather(t.Context(), nil); err != nil || string(all[1]) != "here" {
		t.Errorf("%q, %v", all, err)
	}
}

// stuck is a fabric with a peer that accepts no messages.
type stuck struct{ fabric.Fabric }

func (stuck) Send(ctx context.Context, _ int, _ collective.Lane, _ ...[]byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestPeerThatTakesNothing checks that Send to a rank that accepts nothing returns after the time for
// which a peer may be silent.
func TestPeerThatTakesNothing(t *testing.T) {
	all := inprocess.New(2)
	p := fabric.New(stuck{all[0]}, 50*time.Millisecond)
	defer p.Close()
	defer all[1].Close()
	_, err := p.AllGather(t.Context(), []byte("mine"))
	if !errors.Is(err, fabric.Ended) || !strings.Contains(err.Error(), "rank 1 is gone") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.AllGather(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
}
