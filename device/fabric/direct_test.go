package fabric_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
)

// TestSendToOneRank checks that the messages of a round arrive in order, that unreceived
// messages are dropped at its end, and that a rank that calls the round off ends the wait
// of the others.
func TestSendToOneRank(t *testing.T) {
	ctx := context.Background()
	errs := onRanks(3, func(p *fabric.Peers) error {
		to, from := (p.Rank()+1)%3, (p.Rank()+2)%3
		for n := range uint32(4) { // the last one is not received
			if err := p.Send(ctx, to, n, fmt.Append(nil, p.Rank()), fmt.Append(nil, "/", n)); err != nil {
				return err
			}
		}
		for n := range uint32(3) {
			got, err := p.Receive(ctx, from, n)
			if want := fmt.Sprintf("%d/%d", from, n); err != nil || string(got) != want {
				return fmt.Errorf("got %q, %v; want %q", got, err, want)
			}
		}
		if _, err := p.AllGather(ctx, nil); err != nil {
			return err
		}
		if p.Rank() == 0 {
			if err := p.CallOff(ctx, "no more"); err != nil {
				return err
			}
		} else if m, err := p.Receive(ctx, 0, 0); !errors.Is(err, collective.Aborted) {
			return fmt.Errorf("got %q, %v; want that the round was called off", m, err)
		}
		if _, err := p.AllGather(ctx, nil); err != nil {
			return err
		}
		if err := p.Send(ctx, to, 0, []byte("next")); err != nil {
			return err
		}
		if got, err := p.Receive(ctx, from, 0); err != nil || string(got) != "next" {
			return fmt.Errorf("in the next round: %q, %v", got, err)
		}
		return nil
	})
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
