package remote

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// lending is what a fabric has of a plugin that sends from memory that it shares with
// this process and receives into such memory, so that nobody copies what is long.
type lending struct {
	received *shm.Pool // that the plugin receives into; nil: it shares none
	shares
	lent [][collective.Lanes]loans
}

// shares is the pools of this process of which another one was told: a plugin, or
// that of a rank of the same machine.
type shares struct {
	mu    sync.Mutex
	known map[*shm.Pool]*known
	tell  func(wire.Frame) error // the other process, with mu held
}

// known is a pool that the other process knows.
type known struct {
	number uint32
	mapped atomic.Bool // as it says
}

// loans counts the messages to a peer in a lane that the plugin sends from pools.
type loans struct {
	given uint64 // by who sends
	back  atomic.Uint64
	rung  chan struct{} // when one comes back
}

const (
	// receivedNumber is the pool that the plugin receives into, and the first number.
	receivedNumber = 1
	// worthLending is from how many bytes in pools on a message is lent.
	worthLending = 32 << 10
	// worthView is from how many bytes on a piece that does not follow on the last
	// one is sent from where it lies.
	worthView = 4 << 10
)

func newLending(received *shm.Pool, ranks int, tell func(wire.Frame) error) *lending {
	l := &lending{received: received, shares: shares{known: map[*shm.Pool]*known{}, tell: tell}}
	l.lent = make([][collective.Lanes]loans, ranks)
	for i := range l.lent {
		for lane := range l.lent[i] {
			l.lent[i][lane].rung = make(chan struct{}, 1)
		}
	}
	return l
}

// lendable returns the views of a message that the plugin is lent, nil if it is written.
func (f *Fabric) lendable(pieces [][]byte) []wire.View {
	if f.received == nil {
		return nil
	}
	return f.views(pieces)
}

// views returns the pieces of a message as the other process finds them, nil if they are
// to be written to it. Neighbours become one.
func (s *shares) views(pieces [][]byte) []wire.View {
	var all []wire.View
	lent, frame := 0, 0
	for _, b := range pieces {
		v := s.view(b)
		last := len(all) - 1
		switch {
		case len(b) == 0:
		case v.Pool != 0 && last >= 0 && all[last].Pool == v.Pool && all[last].Offset+all[last].Length == v.Offset:
			all[last].Length += v.Length
			lent += len(b)
		case v.Pool != 0 && len(b) >= worthView:
			all = append(all, v)
			lent += len(b)
		case last >= 0 && all[last].Pool == 0:
			all[last].Inline = append(all[last].Inline, b...)
		default:
			all = append(all, wire.View{Inline: append([]byte(nil), b...)})
		}
	}
	for _, v := range all {
		frame += wire.ViewHeader + len(v.Inline)
	}
	if lent < worthLending || frame > wire.MaxFrame { // long pieces of a pool that is not mapped yet
		return nil
	}
	return all
}

// view returns where the other process finds a piece: in a pool that it has mapped, or
// nowhere. A pool that it does not know it is told of.
func (s *shares) view(b []byte) wire.View {
	pool, at := poolOf(b)
	if pool == nil {
		return wire.View{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.known[pool]
	if k == nil {
		k = &known{number: uint32(receivedNumber + 1 + len(s.known))}
		s.known[pool] = k
		_ = s.tell(wire.Frame{Kind: wire.FramePool, Peer: int(k.number), Content: []byte(pool.Path())})
	}
	if !k.mapped.Load() {
		return wire.View{}
	}
	return wire.View{Pool: k.number, Offset: int64(at), Length: int64(len(b))}
}

// noteMapped notes that the other process has mapped a pool.
func (s *shares) noteMapped(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.known {
		if int(k.number) == number {
			k.mapped.Store(true)
		}
	}
}

// lend has the plugin send a message, and returns when the memory that it lies in is
// free again. The caller holds the turn of the peer's lane.
func (f *Fabric) lend(ctx context.Context, to int, lane collective.Lane, message []wire.View) error {
	l := &f.lent[to][lane]
	if err := f.write(wire.Views(to, uint8(lane), message)); err != nil {
		return err
	}
	l.given++
	for l.back.Load() < l.given {
		select {
		case <-l.rung:
		case <-f.over:
			return f.ended()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// returned notes that a message was sent.
func (f *Fabric) returned(m wire.Frame) {
	l := &f.lent[m.Peer][m.Lane]
	l.back.Add(1)
	select {
	case l.rung <- struct{}{}:
	default:
	}
}

// arrived returns a message that the plugin has received into its pool.
func (f *Fabric) arrived(m wire.Frame) ([]byte, error) {
	views, err := m.Views()
	switch {
	case err != nil:
		return nil, err
	case f.received == nil || len(views) != 1 || views[0].Pool != receivedNumber:
		return nil, fmt.Errorf("a message of %d views, want one of pool %d", len(views), receivedNumber)
	}
	b, ok := f.received.At(views[0].Offset, views[0].Length)
	if !ok || views[0].Offset%8 != 0 {
		return nil, fmt.Errorf("a message of %d bytes at %d: it lies in no pool", views[0].Length, views[0].Offset)
	}
	return b, nil
}

// Reuse implements fabric.Fabric.
func (f *Fabric) Reuse(message []byte) {
	if f.received != nil {
		if at, ok := f.received.Offset(message); ok {
			_ = f.write(wire.Back(f.rank, 0, int64(at))) // if it cannot be written, nobody needs it
			return
		}
	}
	f.free.give(message)
}

var _ fabric.Fabric = (*Fabric)(nil)
