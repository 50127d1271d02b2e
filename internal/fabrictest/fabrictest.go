// Package fabrictest tests implementations of fabric.Fabric: every rule of
// package fabric has a case that quotes it.
//
// Use it in the tests of every fabric that you write.
package fabrictest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
)

// Opener opens a fabric of size ranks and returns it for each rank.
type Opener func(ctx context.Context, size int) ([]fabric.Fabric, error)

// Case checks one rule.
type Case struct {
	Name string
	Rule string // the sentence of package fabric that it checks
	// Sizes are the numbers of ranks of the fabrics that the case opens. In a process
	// started by a launcher, an Opener returns this process's rank if the size equals the
	// number of ranks of the launcher, and no rank otherwise.
	Sizes []int
	Run   func(ctx context.Context, open Opener) error
}

// Cases returns all cases. Each runs for at most a few seconds.
func Cases() []Case {
	return []Case{
		{"ranks", "Rank is the number of this process among them, from 0. Size is their number.",
			[]int{1, 2, 3}, ranks},
		{"order", "Messages from one rank to another in one lane arrive in the order in which they were sent, " +
			"each once and whole, of any length, zero included.", []int{3}, order},
		{"lanes", "What is sent in one lane never waits for what is sent in another.", []int{2}, lanes},
		{"both send first", "Send does not wait until it is received: two ranks may send to each other before " +
			"either receives.", []int{2}, sendFirst},
		{"the buffer", "The pieces are the caller's again when Send returns.", []int{2}, buffer},
		{"pieces", "Send sends a message: these pieces, one behind the other.", []int{2}, pieces},
		{"memory", "one of 16 bytes or more begins at a multiple of 8. Reuse gives back a message that was " +
			"received.", []int{2}, reuse},
		{"lending", "Lend is Send, Borrow is Receive of a message in pieces, one behind the other.",
			[]int{2}, lending},
		{"a context that ends", "ctx ended: the error is its error, and no message is lost by it.",
			[]int{2}, canceled},
		{"abort", "Abort ends all ranks: whatever they do with the fabric returns an error that wraps Ended.",
			[]int{3}, abort},
		{"close", "What was sent before arrives. A rank that is closed takes part no more, and its peers find " +
			"that out when they receive.", []int{2}, closed},
		{"closing twice", "Closing twice is legal.", []int{2}, closedTwice},
		{"nobody", "It is an error if to is not another rank, or if the lane does not exist.", []int{2}, nobody},
	}
}

// Patience is the time without an arriving message after which a case ends.
const Patience = 2 * time.Minute

type arrivedKey struct{}

// patient returns a context that ends when arrived has not been called for Patience. A busy machine is slow,
// but its messages arrive.
func patient(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(Patience, func() {
		cancel(fmt.Errorf("no message arrived for %v", Patience))
	})
	arrived := func() { timer.Reset(Patience) }
	return context.WithValue(ctx, arrivedKey{}, arrived), func() {
		timer.Stop()
		cancel(nil)
	}
}

// arrived reports that a message has arrived.
func arrived(ctx context.Context) { ctx.Value(arrivedKey{}).(func())() }

// with opens a fabric and calls f for every rank at once. It closes the ranks
// and returns the first error.
func with(ctx context.Context, open Opener, size int,
	f func(ctx context.Context, r fabric.Fabric) error) error {
	ctx, stop := patient(ctx)
	defer stop()
	all, err := open(ctx, size)
	if err != nil {
		return err
	}
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, r := range all {
		wait.Go(func() { errs[i] = f(ctx, r) })
	}
	wait.Wait()
	for i, r := range all {
		if err := r.Close(); err != nil {
			errs[i] = errors.Join(errs[i], fmt.Errorf("close: %w", err))
		}
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("rank %d of %d: %w", i, size, errors.Join(err, context.Cause(ctx)))
		}
	}
	return nil
}

func ranks(ctx context.Context, open Opener) error {
	for _, size := range []int{1, 2, 3} {
		var mu sync.Mutex
		seen := map[int]bool{}
		err := with(ctx, open, size, func(_ context.Context, r fabric.Fabric) error {
			mu.Lock()
			defer mu.Unlock()
			if n := r.Rank(); n < 0 || n >= size || seen[n] || r.Size() != size {
				return fmt.Errorf("it is rank %d of %d, %v were there before", n, r.Size(), seen)
			}
			seen[r.Rank()] = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lengths are the lengths of messages: zero, odd, around pages, and more than any network
// transfers at once.
var lengths = []int{0, 1, 3, 4095, 4096, 4097, 65537, 3 << 20, 0, 7}

// message returns content that identifies its sender, receiver and lane.
func message(sender, receiver int, lane collective.Lane, n int) []byte {
	b := make([]byte, lengths[n])
	for i := range b {
		b[i] = byte(17*sender + 31*receiver + 101*int(lane) + 7*n + i + i>>8)
	}
	return b
}

func order(ctx context.Context, open Opener) error {
	return with(ctx, open, 3, func(ctx context.Context, r fabric.Fabric) error {
		for n := range lengths {
			for to := range r.Size() {
				for lane := range collective.Lane(collective.Lanes) {
					if to == r.Rank() {
						continue
					}
					if err := r.Send(ctx, to, lane, message(r.Rank(), to, lane, n)); err != nil {
						return err
					}
				}
			}
		}
		for from := range r.Size() {
			for lane := range collective.Lane(collective.Lanes) {
				for n := range lengths {
					if from == r.Rank() {
						continue
					}
					if err := expect(ctx, r, from, lane, message(from, r.Rank(), lane, n)); err != nil {
						return fmt.Errorf("message %d: %w", n, err)
					}
				}
			}
		}
		return nil
	})
}

func expect(ctx context.Context, r fabric.Fabric, sender int, lane collective.Lane, want []byte) error {
	got, err := r.Receive(ctx, sender, lane)
	if err != nil {
		return err
	}
	arrived(ctx)
	if !bytes.Equal(got, want) {
		return fmt.Errorf("from rank %d in lane %d came %d bytes that are not the %d that were sent", sender, lane,
			len(got), len(want))
	}
	return nil
}

func lanes(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		peer := 1 - r.Rank()
		for range 20 { // these are received after the messages of the other lane
			if err := r.Send(ctx, peer, collective.Gradients, make([]byte, 1<<20)); err != nil {
				return err
			}
		}
		if err := r.Send(ctx, peer, collective.Moments, []byte("now")); err != nil {
			return err
		}
		if err := expect(ctx, r, peer, collective.Moments, []byte("now")); err != nil {
			return err
		}
		for range 20 {
			if err := expect(ctx, r, peer, collective.Gradients, make([]byte, 1<<20)); err != nil {
				return err
			}
		}
		return nil
	})
}

func sendFirst(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		large := bytes.Repeat([]byte{byte(r.Rank())}, 32<<20)
		if err := r.Send(ctx, 1-r.Rank(), collective.Moments, large); err != nil {
			return err
		}
		return expect(ctx, r, 1-r.Rank(), collective.Moments, bytes.Repeat([]byte{byte(1 - r.Rank())}, 32<<20))
	})
}

func buffer(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		b := make([]byte, 1<<20)
		for n := range 10 {
			if r.Rank() == 1 {
				if err := expect(ctx, r, 0, collective.Moments, bytes.Repeat([]byte{byte(n)}, len(b))); err != nil {
					return err
				}
				continue
			}
			for i := range b {
				b[i] = byte(n)
			}
			if err := r.Send(ctx, 1, collective.Moments, b); err != nil {
				return err
			}
		}
		return nil
	})
}

func pieces(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		for n := range lengths {
			whole := message(r.Rank(), 1-r.Rank(), collective.Moments, n)
			all := [][]byte{nil, whole[:len(whole)/3], whole[len(whole)/3 : len(whole)/2], {}, whole[len(whole)/2:]}
			if err := r.Send(ctx, 1-r.Rank(), collective.Moments, all...); err != nil {
				return err
			}
		}
		for n := range lengths {
			want := message(1-r.Rank(), r.Rank(), collective.Moments, n)
			if err := expect(ctx, r, 1-r.Rank(), collective.Moments, want); err != nil {
				return fmt.Errorf("message %d: %w", n, err)
			}
		}
		return nil
	})
}

// reuse returns every other message while the next may be on its way. The other messages
// must not change.
func reuse(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		stored := map[int][]byte{}
		for i := range 3 * len(lengths) {
			n := i % len(lengths)
			if r.Rank() == 0 {
				if err := r.Send(ctx, 1, collective.Gradients, message(0, 1, collective.Gradients, n)); err != nil {
					return err
				}
				continue
			}
			got, err := r.Receive(ctx, 0, collective.Gradients)
			arrived(ctx)
			switch {
			case err != nil:
				return err
			case !bytes.Equal(got, message(0, 1, collective.Gradients, n)):
				return fmt.Errorf("message %d is another after messages were given back", i)
			case len(got) >= 16 && uintptr(unsafe.Pointer(unsafe.SliceData(got)))%8 != 0:
				return fmt.Errorf("a message of %d bytes begins at %p", len(got), got)
			case i%2 == 0:
				r.Reuse(got)
			default:
				stored[i%len(lengths)] = got
			}
		}
		for n, got := range stored {
			if !bytes.Equal(got, message(0, 1, collective.Gradients, n)) {
				return fmt.Errorf("a message of %d bytes that was not given back is another now", len(got))
			}
		}
		return nil
	})
}

// lending makes a Lender lend messages. Every other message is borrowed, and the rest are received. The
// sender must not change them until the peer reports that it has read them.
func lending(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		l, ok := r.(fabric.Lender)
		if !ok {
			return nil
		}
		peer := 1 - r.Rank()
		for n := range lengths {
			whole := message(r.Rank(), peer, collective.Gradients, n)
			all := [][]byte{whole[:len(whole)/5], whole[len(whole)/5 : len(whole)/2], whole[len(whole)/2:]}
			if _, err := l.Lend(ctx, peer, collective.Gradients, all...); err != nil {
				return err
			}
			if err := borrow(ctx, l, peer, n); err != nil {
				return fmt.Errorf("message %d: %w", n, err)
			}
			if err := r.Send(ctx, peer, collective.Gradients, []byte("read")); err != nil {
				return err
			}
			if err := expect(ctx, r, peer, collective.Gradients, []byte("read")); err != nil {
				return err
			}
			clear(whole)
		}
		return nil
	})
}

func borrow(ctx context.Context, l fabric.Lender, sender, n int) error {
	want := message(sender, l.Rank(), collective.Gradients, n)
	if n%2 == 0 {
		return expect(ctx, l, sender, collective.Gradients, want)
	}
	pieces, lent, err := l.Borrow(ctx, sender, collective.Gradients)
	arrived(ctx)
	if err == nil && !bytes.Equal(bytes.Join(pieces, nil), want) {
		err = fmt.Errorf("%d pieces, lent: %v, are not the %d bytes that were sent", len(pieces), lent, len(want))
	}
	return err
}

func canceled(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		if r.Rank() == 0 {
			if err := expect(ctx, r, 1, collective.Gradients, []byte("go")); err != nil {
				return err
			}
			return r.Send(ctx, 1, collective.Moments, []byte("late"))
		}
		short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
		defer stop()
		if m, err := r.Receive(short, 0, collective.Moments); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a wait for nothing gave %d bytes and the error %v", len(m), err)
		}
		if err := r.Send(ctx, 0, collective.Gradients, []byte("go")); err != nil {
			return err
		}
		return expect(ctx, r, 0, collective.Moments, []byte("late"))
	})
}

func abort(ctx context.Context, open Opener) error {
	return with(ctx, open, 3, func(ctx context.Context, r fabric.Fabric) error {
		if r.Rank() == 1 {
			time.Sleep(20 * time.Millisecond) // the other ranks wait by now, or will soon
			r.Abort("out of patience")
		}
		_, err := r.Receive(ctx, (r.Rank()+1)%3, collective.Moments)
		if !errors.Is(err, fabric.Ended) {
			return fmt.Errorf("a wait ended with %v", err)
		}
		if err := r.Send(ctx, (r.Rank()+1)%3, collective.Gradients, nil); !errors.Is(err, fabric.Ended) {
			return fmt.Errorf("a message was sent after the end: %v", err)
		}
		return nil
	})
}

func closed(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		if r.Rank() == 0 {
			if err := r.Send(ctx, 1, collective.Moments, []byte("last")); err != nil {
				return err
			}
			return r.Close()
		}
		if err := expect(ctx, r, 0, collective.Moments, []byte("last")); err != nil {
			return err
		}
		if _, err := r.Receive(ctx, 0, collective.Moments); !errors.Is(err, fabric.Ended) {
			return fmt.Errorf("a wait for a rank that has left ended with %v", err)
		}
		return nil
	})
}

func closedTwice(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(_ context.Context, r fabric.Fabric) error { return r.Close() })
}

func nobody(ctx context.Context, open Opener) error {
	return with(ctx, open, 2, func(ctx context.Context, r fabric.Fabric) error {
		for _, to := range []int{-1, 2, r.Rank()} {
			if r.Send(ctx, to, collective.Moments, nil) == nil {
				return fmt.Errorf("rank %d was sent something", to)
			}
		}
		if r.Send(ctx, 1-r.Rank(), collective.Lanes, nil) == nil {
			return fmt.Errorf("a lane that is not there was used")
		}
		return nil
	})
}
