package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// intraNode is a fabric that connects the ranks of one machine through shared memory. They also
// lend each other values in pools. Messages to ranks of other machines, and the end of
// the run, go through the underlying fabric.
//
//	rank 0 ══ link ══ rank 1          rank 2 ══ link ══ rank 3
//	   │    machine a    │               │    machine b    │
//	   └── fabric ───────┴───────────────┴─────────────────┘
type intraNode struct {
	fabric.Fabric
	over    <-chan struct{} // closed when the fabric has ended
	ended   func() error    // returns the reason
	links   []*link         // links by rank; nil: on another machine
	readers sync.WaitGroup
	once    sync.Once
}

// IntraNode returns the fabric with direct connections between neighbouring ranks of one machine
// (Linux). All ranks must call it before they use the fabric. It returns within the timeout (0: 30 s),
// or when ctx ends.
func IntraNode(ctx context.Context, f *Fabric, timeout time.Duration) (fabric.Lender, error) {
	return newIntraNode(ctx, f, f.over, f.ended, cmp.Or(timeout, 30*time.Second))
}

// newIntraNode does the same as IntraNode for any fabric. over is closed when that fabric has ended, and
// ended returns the reason.
func newIntraNode(ctx context.Context, f fabric.Fabric, over <-chan struct{}, ended func() error,
	timeout time.Duration) (*intraNode, error) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	links, err := connectLinks(ctx, f)
	if err != nil {
		return nil, err
	}
	n := &intraNode{Fabric: f, over: over, ended: ended, links: links}
	for _, l := range links {
		if l != nil {
			n.readers.Go(func() {
				if err := l.read(); !errors.Is(err, shm.Closed) {
					f.Abort(fmt.Sprintf("rank %d: its neighbour, rank %d: %v", l.rank, l.peer, err))
				}
			})
		}
	}
	return n, nil
}

// link returns the link to a rank, or nil if there is no link to it or the lane does not
// exist.
func (n *intraNode) link(peer int, lane collective.Lane) *link {
	if peer < 0 || peer >= len(n.links) || lane >= collective.Lanes {
		return nil
	}
	return n.links[peer]
}

// Send implements fabric.Fabric.
func (n *intraNode) Send(ctx context.Context, to int, lane collective.Lane, pieces ...[]byte) error {
	l := n.link(to, lane)
	if l == nil {
		return n.Fabric.Send(ctx, to, lane, pieces...)
	}
	return n.send(ctx, l, lane, pieces, nil)
}

// send sends a message over a link. If the link breaks because the fabric has ended, send
// returns the fabric's error, which explains more.
func (n *intraNode) send(ctx context.Context, l *link, lane collective.Lane, pieces [][]byte,
	views []wire.View) error {
	if isClosed(n.over) {
		return n.ended()
	}
	err := l.send(ctx, n.over, lane, pieces, views)
	if errors.Is(err, shm.Closed) && isClosed(n.over) {
		return n.ended()
	}
	return err
}

// Lend implements fabric.Lender. A message with pieces in pools is sent as views of them,
// and the receiver adds the values in place. In this case Lend returns true, and the caller
// must not change the values before the receiver reports that it is done.
func (n *intraNode) Lend(ctx context.Context, to int, lane collective.Lane, pieces ...[]byte) (bool, error) {
	if l := n.link(to, lane); l != nil {
		if views := l.views(pieces); views != nil {
			return true, n.send(ctx, l, lane, nil, views)
		}
	}
	return false, n.Send(ctx, to, lane, pieces...)
}

// Receive implements fabric.Fabric.
func (n *intraNode) Receive(ctx context.Context, from int, lane collective.Lane) ([]byte, error) {
	return fabric.Joined(ctx, n, from, lane)
}

// Borrow implements fabric.Lender: it returns the pieces of the next message in place.
func (n *intraNode) Borrow(ctx context.Context, from int, lane collective.Lane) ([][]byte, bool, error) {
	l := n.link(from, lane)
	if l == nil {
		m, err := n.Fabric.Receive(ctx, from, lane)
		return [][]byte{m}, false, err
	}
	for {
		if isClosed(n.over) {
			return nil, false, n.ended()
		}
		gone := isClosed(l.left) // checked before Take, so that earlier messages have arrived
		if m, ok := l.boxes[lane].Take(); ok {
			return m.pieces, m.lent, nil
		}
		if gone {
			return nil, false, fmt.Errorf("%w: rank %d has left", fabric.Ended, from)
		}
		left := l.left
		select {
		case <-l.boxes[lane].Arrived():
		case <-left:
		case <-n.over:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// Close implements fabric.Fabric. It announces the end on every link, leaves the fabric,
// which waits for the others, and only then closes the links: a slower rank can still
// receive the messages that were sent to it.
func (n *intraNode) Close() (err error) {
	n.once.Do(func() {
		ctx, stop := context.WithTimeout(context.Background(), closeTimeoutAfterAbort)
		defer stop()
		for _, l := range n.links {
			if l != nil {
				l.leave(ctx)
			}
		}
		err = n.Fabric.Close()
		for _, l := range n.links {
			if l != nil {
				l.close()
			}
		}
		n.readers.Wait()
	})
	return err
}

var _ fabric.Lender = (*intraNode)(nil)
