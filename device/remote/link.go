package remote

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric/mailbox"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// link is a connection with the process of another rank of this machine. The frames are
// those between bnctl and a fabric plugin; each names who sends it.
type link struct {
	rank, peer int // the ranks at its ends
	pipe       *shm.Conn
	bell       *os.File                        // the end of this side's pipe that the other writes to
	sending    [collective.Lanes]chan struct{} // have an element while somebody sends a message
	writing    sync.Mutex                      // held by who writes a frame
	sharedPools

	peerPools sync.Map                         // the other's pools that are mapped here, by number
	partial   [collective.Lanes]partialMessage // read's
	boxes     [collective.Lanes]*mailbox.Box[delivery]
	left      chan struct{} // closed when the other has left

	mu      sync.Mutex
	closed  bool           // close was called: no more writer begins
	writers sync.WaitGroup // for writes that outlast the call that began them; close waits
}

// delivery is a message that has come.
type delivery struct {
	pieces [][]byte
	lent   bool // they lie where the sender has them
}

// partialMessage is a message of which parts have come.
type partialMessage struct {
	message []byte
	last    int // bytes of the last one of several parts: the next is as long, most likely
}

func newLink(rank, peer int, pipe *shm.Conn, bell *os.File) *link {
	l := &link{rank: rank, peer: peer, pipe: pipe, bell: bell, left: make(chan struct{})}
	l.sharedPools = sharedPools{announced: map[*shm.Pool]*announcedPool{}, notify: func(m wire.Frame) error {
		l.background(func() { _ = l.write(m) }) // the reader does not wait for the lock of a writer
		return nil
	}}
	for i := range l.boxes {
		l.boxes[i], l.sending[i] = mailbox.New[delivery](), make(chan struct{}, 1)
	}
	return l
}

func (l *link) write(m wire.Frame) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return wire.WriteFrame(l.pipe, m)
}

// background runs a write in a goroutine that close waits for, and reports whether it has begun:
// once the link is closed nothing does.
func (l *link) background(write func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.writers.Go(write)
	}
	return !l.closed
}

// send sends a message of these pieces, or of views if there are any. It ends with ctx, or when
// over is closed: then the message is still being written.
func (l *link) send(ctx context.Context, over <-chan struct{}, lane collective.Lane, pieces [][]byte,
	views []wire.View) error {
	select {
	case l.sending[lane] <- struct{}{}:
	case <-over:
		return shm.Closed
	case <-ctx.Done():
		return ctx.Err()
	}
	frames := l.frames(lane, pieces, views)
	if len(frames) == 1 && l.writing.TryLock() {
		if fits := frames[0].Bytes() <= l.pipe.Room(); fits {
			err := wire.WriteFrame(l.pipe, frames[0])
			l.writing.Unlock()
			<-l.sending[lane]
			return err
		}
		l.writing.Unlock()
	}
	if len(pieces) > 0 { // the first stays as it is, even if this returns before it is written
		frames = l.frames(lane, append([][]byte{slices.Clone(pieces[0])}, pieces[1:]...), views)
	}
	done := make(chan error, 1)
	if !l.background(func() {
		done <- l.writeAll(frames)
		<-l.sending[lane]
	}) {
		<-l.sending[lane]
		return shm.Closed
	}
	select {
	case err := <-done:
		return err
	case <-over:
		return shm.Closed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *link) writeAll(frames []wire.Frame) error {
	for _, m := range frames {
		if err := l.write(m); err != nil {
			return err
		}
	}
	return nil
}

// frames returns those of a message.
func (l *link) frames(lane collective.Lane, pieces [][]byte, views []wire.View) (all []wire.Frame) {
	if len(views) > 0 {
		return []wire.Frame{wire.Views(l.rank, uint8(lane), views)}
	}
	m := wire.Frame{Kind: wire.FramePart, Lane: uint8(lane), Peer: l.rank}
	for m.Kind == wire.FramePart {
		if m.Rest, pieces = wire.Pieces(pieces); len(pieces) == 0 {
			m.Kind = wire.FrameMessage
		}
		all = append(all, m)
	}
	return all
}

// read takes what the other sends, until the connection is closed; the error is about
// what it sent.
func (l *link) read() error {
	for {
		m, err := wire.ReadFrame(l.pipe, l.bufferFor)
		if err == nil {
			err = l.handle(m)
		}
		if err != nil {
			return err
		}
	}
}

// bufferFor returns where the content of a frame is to be.
func (l *link) bufferFor(m wire.Frame, n int) ([]byte, error) {
	if m.Kind == wire.FramePool {
		return make([]byte, n), nil
	}
	if m.Peer != l.peer || m.Lane >= collective.Lanes {
		return nil, fmt.Errorf("a frame of rank %d in lane %d: %w", m.Peer, m.Lane, errNoRank)
	}
	if m.Kind != wire.FramePart && m.Kind != wire.FrameMessage {
		return make([]byte, n), nil
	}
	in := &l.partial[m.Lane]
	if in.message == nil && m.Kind == wire.FramePart {
		in.message = make([]byte, 0, max(in.last, n))
	}
	at := len(in.message)
	in.message = slices.Grow(in.message, n)[:at+n]
	return in.message[at:], nil
}

func (l *link) handle(m wire.Frame) error {
	switch m.Kind {
	case wire.FrameMessage:
		in := &l.partial[m.Lane]
		l.boxes[m.Lane].Put(delivery{pieces: [][]byte{in.message}})
		if len(in.message) > wire.MaxFrame {
			in.last = len(in.message)
		}
		in.message = nil
	case wire.FrameViews:
		pieces, err := l.resolve(m)
		if err != nil {
			return err
		}
		l.boxes[m.Lane].Put(delivery{pieces, true})
	case wire.FramePool:
		if len(m.Content) == 0 {
			l.setMapped(m.Peer)
			return nil
		}
		if p, err := shm.OpenPool(string(m.Content)); err == nil { // else all of it is copied
			_ = p.Close() // it stays mapped
			l.peerPools.Store(uint32(m.Peer), p)
			return l.notify(wire.Frame{Kind: wire.FramePool, Peer: m.Peer})
		}
	case wire.FrameLeft:
		if !isClosed(l.left) {
			close(l.left)
		}
	}
	return nil
}

// resolve returns the pieces of a message that is lent.
func (l *link) resolve(m wire.Frame) (pieces [][]byte, err error) {
	views, err := m.Views()
	for _, v := range views {
		b, ok := v.Inline, true
		if v.Pool > 0 {
			p, known := l.peerPools.Load(v.Pool)
			if ok = known; ok {
				b, ok = p.(*shm.Pool).At(v.Offset, v.Length)
			}
		}
		if !ok {
			return nil, fmt.Errorf("rank %d lends %d bytes at %d of pool %d: there is none", l.peer, v.Length,
				v.Offset, v.Pool)
		}
		pieces = append(pieces, b)
	}
	return pieces, err
}

// leave tells the other that no more comes from this rank.
func (l *link) leave(ctx context.Context) {
	done := make(chan struct{})
	begun := l.background(func() {
		defer close(done)
		_ = l.write(wire.Frame{Kind: wire.FrameLeft, Peer: l.rank}) // it may be gone
	})
	if !begun {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// close ends the connection on this side, and with it every write that is under way.
func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.pipe.Close() // what can fail is giving memory back
	l.writers.Wait()
	_ = l.bell.Close()
}
