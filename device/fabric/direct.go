package fabric

import (
	"context"

	"github.com/bnctl/bnctl/device/collective"
)

// Messages from one rank to another belong to the current round, as exchanges do. In each
// round they are numbered from 0 for each pair of ranks. The next AllGather drops messages
// that were not received.

// Send sends the concatenation of pieces to another rank. There, Receive returns it for the same number.
// Send does not wait for that call. Only one goroutine at a time may send to a rank, in the order of the
// numbers. The caller may change the pieces when Send returns.
func (p *Peers) Send(ctx context.Context, rank int, number uint32, pieces ...[]byte) error {
	h := header{kind: direct, round: p.round.Load(), sequence: number}
	return p.send(ctx, rank, collective.Gradients, append([][]byte{h.append(nil)}, pieces...)...)
}

// Receive returns the message that another rank sends in this round with the given number.
// The message belongs to the caller, and its address is a multiple of 8. Only one goroutine
// at a time may receive from a rank, in the order of the numbers, and not during an exchange.
// The error wraps collective.Aborted if a rank has called the round off, and Ended if the
// other rank is gone.
func (p *Peers) Receive(ctx context.Context, rank int, number uint32) ([]byte, error) {
	h := header{kind: direct, round: p.round.Load(), sequence: number}
	m, err := p.receive(ctx, rank, collective.Gradients, h)
	if err != nil {
		return nil, err
	}
	return m.content(), nil
}
