// Package inprocess is a fabric that connects goroutines of one process as ranks. Messages
// are copied into unbounded queues, or lent. It is also the simplest implementation of
// fabric.Fabric and fabric.Lender.
//
// Use it in tests of code that runs on several ranks.
package inprocess

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/fabric/mailbox"
)

// New returns a fabric of size ranks: an element for each rank.
func New(size int) []fabric.Fabric {
	w := &world{aborted: make(chan struct{}), queues: map[route]*mailbox.Box[message]{},
		closed: make([]chan struct{}, size)}
	for i := range w.closed {
		w.closed[i] = make(chan struct{})
	}
	var ranks []fabric.Fabric
	for i := range size {
		ranks = append(ranks, &rank{world: w, number: i})
	}
	return ranks
}

// world is the state that the ranks share.
type world struct {
	mu      sync.Mutex
	queues  map[route]*mailbox.Box[message]
	cause   string
	aborted chan struct{}   // closed by Abort
	closed  []chan struct{} // channel of each rank
}

// message is a message that has been sent and not received.
type message struct {
	pieces [][]byte
	lent   bool
}

// route identifies the messages from one member to another in a lane.
type route struct {
	sender, receiver int
	lane             collective.Lane
}

func (w *world) queue(r route) *mailbox.Box[message] {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[r]
	if q == nil {
		q = mailbox.New[message]()
		w.queues[r] = q
	}
	return q
}

type rank struct {
	world  *world
	number int
	once   sync.Once
}

func (r *rank) Rank() int { return r.number }
func (r *rank) Size() int { return len(r.world.closed) }

// ended returns the reason why the fabric has ended for this rank, or nil if it has not.
func (r *rank) ended() error {
	select {
	case <-r.world.aborted:
		return fmt.Errorf("%w: %s", fabric.Ended, r.world.cause)
	case <-r.world.closed[r.number]:
		return fmt.Errorf("%w: rank %d has closed it", fabric.Ended, r.number)
	default:
		return nil
	}
}

func (r *rank) check(peer int, lane collective.Lane) error {
	if peer < 0 || peer >= r.Size() || peer == r.number || lane >= collective.Lanes {
		return fmt.Errorf("rank %d: lane %d of rank %d: there are %d ranks and %d lanes, and none sends to itself",
			r.number, lane, peer, r.Size(), collective.Lanes)
	}
	return nil
}

func (r *rank) Send(ctx context.Context, receiver int, lane collective.Lane, pieces ...[]byte) error {
	return r.put(ctx, receiver, lane, message{pieces: [][]byte{slices.Concat(pieces...)}})
}

func (r *rank) Lend(ctx context.Context, receiver int, lane collective.Lane, pieces ...[]byte) (bool, error) {
	if len(pieces) < 2 {
		return false, r.Send(ctx, receiver, lane, pieces...)
	}
	copied := append([][]byte{slices.Clone(pieces[0])}, pieces[1:]...)
	return true, r.put(ctx, receiver, lane, message{copied, true})
}

func (r *rank) put(ctx context.Context, receiver int, lane collective.Lane, m message) error {
	if err := r.check(receiver, lane); err != nil {
		return err
	}
	if err := r.ended(); err != nil {
		return err
	}
	r.world.queue(route{r.number, receiver, lane}).Put(m)
	return ctx.Err()
}

func (r *rank) Receive(ctx context.Context, sender int, lane collective.Lane) ([]byte, error) {
	return fabric.Joined(ctx, r, sender, lane)
}

func (r *rank) Borrow(ctx context.Context, sender int, lane collective.Lane) ([][]byte, bool, error) {
	if err := r.check(sender, lane); err != nil {
		return nil, false, err
	}
	q := r.world.queue(route{sender, r.number, lane})
	for {
		if err := r.ended(); err != nil {
			return nil, false, err
		}
		gone := isClosed(r.world.closed[sender]) // before Take: earlier messages are then in q
		if m, ok := q.Take(); ok {
			return m.pieces, m.lent, nil
		}
		if gone {
			return nil, false, fmt.Errorf("%w: rank %d has left", fabric.Ended, sender)
		}
		select {
		case <-q.Arrived():
		case <-r.world.aborted:
		case <-r.world.closed[r.number]:
		case <-r.world.closed[sender]:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Reuse leaves the message to the garbage collector.
func (r *rank) Reuse([]byte) {}

func (r *rank) Abort(cause string) {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	if !isClosed(r.world.aborted) {
		r.world.cause = cause
		close(r.world.aborted)
	}
}

func (r *rank) Close() error {
	r.once.Do(func() { close(r.world.closed[r.number]) })
	return nil
}

var _ fabric.Lender = (*rank)(nil)
