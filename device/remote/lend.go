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

// zeroCopy is the state for messages that are not copied. The fabric plugin sends them from memory that it
// shares with this process, and receives them into shared memory.
//
// A pool is an anonymous file that several processes map: the device that writes its gradients there,
// this process, and the plugin that sends the gradients to another rank.
//
//	device process          host                       fabric plugin              network
//	┌──────────┐  Exchange  ┌───────────────┐  Views   ┌──────────┐
//	│ gradient │ ─────────> │ sum of a rank │ ───────> │ MPI_Send │ ───────>  other ranks
//	└────┬─────┘            └──────┬────────┘          └────┬─────┘
//	     │ written                 │ added in place         │ sent from
//	     v                         v                        v
//	   ┌─────────────────────────────────────────────────────┐
//	   │  pool: one copy of the values, in three processes   │
//	   └─────────────────────────────────────────────────────┘
//
// A frame of kind Views has the pool's number, an offset and a length instead of bytes. Lent
// memory must not be written again before the plugin has sent it: for each peer and lane this
// side counts the messages that it has lent (sent), the plugin counts those that it has finished
// (returned), and lend waits until both are equal.
//
// In the other direction the plugin receives into a second pool (number 1), and this process
// hands out slices of it. Reuse returns them with a frame of kind Back.
type zeroCopy struct {
	received *shm.Pool // the pool that the plugin receives into; nil: not shared
	sharedPools
	lent [][collective.Lanes]outstanding
}

// sharedPools tracks the pools of this process that another process knows: a plugin, or a rank of the
// same machine. The path of a pool is announced before its first piece is sent. The pool is used after
// the other process has answered that it has mapped it:
//
//	this process        FramePool(number, path)  ───────>        the other
//	views: nil, bytes are copied                                 opens and maps
//	                    <───────  FramePool(number, nothing)
//	views: (number, offset, length)
//
// If the other process cannot open the file (another user, another container), it does not answer, and all
// bytes are copied from then on. This is slower, but always correct.
type sharedPools struct {
	mu        sync.Mutex
	announced map[*shm.Pool]*announcedPool
	notify    func(wire.Frame) error // sends a frame to the other process; called with mu locked
}

// announcedPool is a pool that the other process knows.
type announcedPool struct {
	number uint32
	mapped atomic.Bool // the other process has reported that it mapped the memory
}

// outstanding counts the lent messages to a peer in a lane that the plugin has not finished.
type outstanding struct {
	sent     uint64 // counted by the sender
	returned atomic.Uint64
	wake     chan struct{} // wakes a sender when a message comes back
}

const (
	// receivedNumber is the number of the pool that the plugin receives into. It is the first number.
	receivedNumber = 1
	// minLent is the number of bytes in pools that a message must have at least to be lent.
	minLent = 32 << 10
	// minView is the minimum size, in bytes, of a piece that is sent in place, unless it follows the
	// previous piece in its pool.
	minView = 4 << 10
)

func newZeroCopy(received *shm.Pool, ranks int, notify func(wire.Frame) error) *zeroCopy {
	l := &zeroCopy{received: received,
		sharedPools: sharedPools{announced: map[*shm.Pool]*announcedPool{}, notify: notify}}
	l.lent = make([][collective.Lanes]outstanding, ranks)
	for i := range l.lent {
		for lane := range l.lent[i] {
			l.lent[i][lane].wake = make(chan struct{}, 1)
		}
	}
	return l
}

// lendableViews returns the views of a message that is lent to the plugin, or nil if it is
// written instead.
func (f *Fabric) lendableViews(pieces [][]byte) []wire.View {
	if f.received == nil {
		return nil
	}
	return f.views(pieces)
}

// views returns the pieces of a message as views for the other process, or nil if they must be written.
// Adjacent pieces in a pool become one view. Short pieces are sent inline, because reading eight bytes
// of another process's memory costs more than copying them.
func (s *sharedPools) views(pieces [][]byte) []wire.View {
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
		case v.Pool != 0 && len(b) >= minView:
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
	if lent < minLent || frame > wire.MaxFrame { // pieces of a pool that is not mapped yet are inline
		return nil
	}
	return all
}

// view returns the view of a piece in a pool that the other process has mapped, or the zero View. It
// announces a pool that the other process does not know. Pieces are copied until it answers.
func (s *sharedPools) view(b []byte) wire.View {
	pool, at := poolOf(b)
	if pool == nil {
		return wire.View{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.announced[pool]
	if k == nil {
		k = &announcedPool{number: uint32(receivedNumber + 1 + len(s.announced))}
		s.announced[pool] = k
		_ = s.notify(wire.Frame{Kind: wire.FramePool, Peer: int(k.number), Content: []byte(pool.Path())})
	}
	if !k.mapped.Load() {
		return wire.View{}
	}
	return wire.View{Pool: k.number, Offset: int64(at), Length: int64(len(b))}
}

// setMapped records that the other process has mapped a pool.
func (s *sharedPools) setMapped(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.announced {
		if int(k.number) == number {
			k.mapped.Store(true)
		}
	}
}

// lend makes the plugin send a message, and returns when the message's memory is free again. The caller
// must have locked the peer's lane for sending.
func (f *Fabric) lend(ctx context.Context, to int, lane collective.Lane, message []wire.View) error {
	l := &f.lent[to][lane]
	if err := f.write(wire.Views(to, uint8(lane), message)); err != nil {
		return err
	}
	l.sent++
	for l.returned.Load() < l.sent {
		select {
		case <-l.wake:
		case <-f.over:
			return f.ended()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// setReturned records that a message was sent, and wakes the call that waits for it.
func (f *Fabric) setReturned(m wire.Frame) {
	l := &f.lent[m.Peer][m.Lane]
	l.returned.Add(1)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// receivedMessage returns a message that the plugin has received into its pool. The message
// is contiguous and aligned to eight bytes, so that its floats can be read in place. Offset
// and length are checked because they come from another process.
func (f *Fabric) receivedMessage(m wire.Frame) ([]byte, error) {
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
			_ = f.write(wire.Back(f.rank, 0, int64(at))) // if the write fails, the memory is no longer needed
			return
		}
	}
	f.free.put(message)
}

var _ fabric.Fabric = (*Fabric)(nil)
