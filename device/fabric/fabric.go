package fabric

import (
	"context"
	"errors"
	"slices"

	"github.com/bnctl/bnctl/device/collective"
)

// Fabric connects this process to the other processes of a run. Its methods may
// be called from any goroutine, but only one goroutine at a time may receive from
// a lane of a peer.
type Fabric interface {
	// Rank is the number of this process among the ranks, from 0.
	Rank() int

	// Size is the number of ranks. It never changes.
	Size() int

	// Send sends a message to another rank: the concatenation of pieces. It may
	// return before the message has arrived, and does not wait until it is
	// received: two ranks may send to each other before either receives. The caller
	// may change the pieces when Send returns. It is an error if to is not another
	// rank, or if the lane does not exist.
	// After an error the message may still arrive. Changes that the caller makes to a
	// piece other than the first may then be visible in it.
	Send(ctx context.Context, to int, lane collective.Lane, pieces ...[]byte) error

	// Receive returns the next message from another rank in a lane. The message belongs
	// to the caller. The address of a message of 16 bytes or more is a multiple of 8.
	// There are three outcomes:
	// 1. The message has arrived, perhaps before the call.
	// 2. ctx ended: the error is the context's error, and no message is lost.
	// 3. The fabric has ended, here or everywhere, or the peer is known to be gone:
	// the error wraps Ended and gives the reason.
	Receive(ctx context.Context, from int, lane collective.Lane) ([]byte, error)

	// Reuse gives back a received message that is no longer needed. Later messages may be received into
	// its memory. A caller need not call it.
	Reuse(message []byte)

	// Abort ends all ranks. Their calls of the fabric then return an error that wraps Ended; it
	// contains the cause if the cause reached them. A fabric may end the processes too. Only the
	// first call counts.
	Abort(cause string)

	// Close leaves the fabric. Messages that were sent before still arrive. Peers notice that a rank
	// has left when they receive from it: their error wraps Ended. Closing twice is legal.
	Close() error
}

// Lender is a Fabric that lets a peer read a message in place, for example between ranks of
// one machine.
type Lender interface {
	Fabric

	// Lend is like Send, but all pieces after the first may be lent. The peer then reads them in
	// place, and the caller must not change them before the peer has reported that it has
	// read them. Pieces that are not lent are copied.
	Lend(ctx context.Context, to int, lane collective.Lane, pieces ...[]byte) (lent bool, err error)

	// Borrow does the same as Receive for a message in pieces, one after the other. The pieces passed to
	// Lend are not divided. The pieces of a lent message belong to the peer and must not be passed to
	// Reuse.
	Borrow(ctx context.Context, from int, lane collective.Lane) (pieces [][]byte, lent bool, err error)
}

// Joined does the same as Receive for a Lender: it returns the borrowed pieces as one message that
// belongs to the caller.
func Joined(ctx context.Context, l Lender, rank int, lane collective.Lane) ([]byte, error) {
	pieces, lent, err := l.Borrow(ctx, rank, lane)
	if err == nil && !lent {
		return pieces[0], nil
	}
	return slices.Concat(pieces...), err
}

// Ended is wrapped by the errors of a fabric that was closed or aborted, or after a peer
// has ended.
var Ended = errors.New("the fabric has ended")
