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

// link is a connection with the process of another rank of this machine. It uses the same frames as
// bnctl and a fabric plugin; each frame names the rank that sends it.
//
// Both processes map one segment. It has a ring of bytes for each direction, and all lanes of a
// direction share its ring: messages are cut into frames of at most wire.MaxFrame bytes, so that a
// long message of gradients does not delay the moments that a run waits for.
//
//	lower rank                     segment                        higher rank
//	 send(moments)   ─┐   ┌──────────────────────────────┐
//	 send(gradients) ─┴──>│ part g │ message m │ part g …│──> read ──> boxes[moments]
//	                      ├──────────────────────────────┤                 boxes[gradients]
//	 boxes <── read <─────│          … frames            │<── send
//	                      └──────────────────────────────┘
//	 bell  <──────────────── one byte of a pipe ─────────────── a writer, if the reader sleeps
//
// Values in a pool, which a device maps as well, are not copied into the ring. The frame then has
// views (pool, offset, length), and the other side reads the bytes in place:
//
//	frame  │ kind Views │ lane │ rank │ (pool 2, at 4096, 1 MiB) (inline, 24 bytes) │
//	                                       │
//	pool 2 of the sender  ┌────────────────v──────────────┐   mapped by both processes
//	                      │    │▒▒▒▒▒▒▒▒▒▒▒▒▒│            │
//	                      └───────────────────────────────┘
//
// A pool is announced by its path in /proc before its first piece is sent. The bytes are
// copied until the other side has answered that it has mapped the pool (lend.go).
//
// Three goroutines can use a link at the same time: one reads (intraNode owns it), and each lane may
// have a writer that outlasts its call. close waits for the writers.
type link struct {
	rank, peer int // this rank, and the rank at the other end
	pipe       *shm.Conn
	bell       *os.File                        // this side's end of the pipe that the other side writes to
	sending    [collective.Lanes]chan struct{} // contains an element while a message is being sent
	writing    sync.Mutex                      // locked while a frame is written
	sharedPools

	peerPools sync.Map                         // pools of the other side that are mapped here, by number
	partial   [collective.Lanes]partialMessage // only used by read
	boxes     [collective.Lanes]*mailbox.Box[delivery]
	left      chan struct{} // closed when the other rank has left

	mu      sync.Mutex
	closed  bool           // close was called; no writer may begin
	writers sync.WaitGroup // writes that outlast the call that began them; close waits for them
}

// delivery is a received message: one piece if it was copied out of the ring, or one for
// each view if it is in pools.
type delivery struct {
	pieces [][]byte
	lent   bool // the pieces are in the sender's pools and must be returned to it by a message
}

// partialMessage is the received part of a message. The next message of a lane most likely has
// the same length as the previous one, so the buffer is allocated with this length at once.
type partialMessage struct {
	message []byte
	last    int // bytes of the last message of several frames; the next one is probably as long
}

// newLink returns the link over a connection that both sides have agreed on. The caller must run read.
func newLink(rank, peer int, pipe *shm.Conn, bell *os.File) *link {
	l := &link{rank: rank, peer: peer, pipe: pipe, bell: bell, left: make(chan struct{})}
	l.sharedPools = sharedPools{announced: map[*shm.Pool]*announcedPool{}, notify: func(m wire.Frame) error {
		l.background(func() { _ = l.write(m) }) // in the background: the reader must not wait for a writer's lock
		return nil
	}}
	for i := range l.boxes {
		l.boxes[i], l.sending[i] = mailbox.New[delivery](), make(chan struct{}, 1)
	}
	return l
}

// write writes one frame, and waits while the ring is full. A closed link is an error.
func (l *link) write(m wire.Frame) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return wire.WriteFrame(l.pipe, m)
}

// background runs a write in a goroutine that close waits for. It returns false, without running it, if
// the link is closed.
func (l *link) background(write func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.writers.Go(write)
	}
	return !l.closed
}

// send sends a message of these pieces, or of views if there are any. It also returns when ctx ends or
// over is closed; the message is then still being written.
//
// A message that fits into the ring is written at once. Other messages are written by a goroutine,
// because the ring empties only as fast as the other rank reads, and that rank may first wait for a
// message of this rank. The first piece, a header that the caller reuses, is copied. All other pieces
// belong to the exchange, and stay unchanged until the group does not need the exchange any more.
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
		if fits := frames[0].Bytes() <= l.pipe.Available(); fits {
			err := wire.WriteFrame(l.pipe, frames[0])
			l.writing.Unlock()
			<-l.sending[lane]
			return err
		}
		l.writing.Unlock()
	}
	if len(pieces) > 0 { // a copy of the first piece, because the write may outlast this call
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

// writeAll writes frames in their order.
func (l *link) writeAll(frames []wire.Frame) error {
	for _, m := range frames {
		if err := l.write(m); err != nil {
			return err
		}
	}
	return nil
}

// frames returns the frames of a message: either a single one with views, or frames of at
// most wire.MaxFrame bytes. The last of these has kind FrameMessage and completes the
// message.
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

// read handles the frames of the other rank until the connection is closed. The error is
// about the frames.
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

// bufferFor returns the memory for the content of a frame. Content of a copied message
// follows the content of its earlier frames. Frames with a rank other than the link's, or
// with a lane that does not exist, are refused before any of their bytes is read.
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

// handle processes a frame. An error is a fault of the other rank, and ends the run.
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
		if p, err := shm.OpenPool(string(m.Content)); err == nil { // without an answer, the bytes are copied
			_ = p.Close() // the pool stays mapped
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

// resolve returns the pieces of a lent message: slices of the sender's pools. Pool numbers
// and offsets come from another process and are checked against the mapped pools.
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

// leave announces to the other rank that this one sends nothing more, so that its pending Receive fails
// with a clear error. It waits until the announcement is written, but not longer than ctx.
func (l *link) leave(ctx context.Context) {
	done := make(chan struct{})
	begun := l.background(func() {
		defer close(done)
		_ = l.write(wire.Frame{Kind: wire.FrameLeft, Peer: l.rank}) // fails if the other rank is gone
	})
	if !begun {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// close ends the connection on this side, and every write in progress.
func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.pipe.Close() // fails only if the memory cannot be freed
	l.writers.Wait()
	_ = l.bell.Close()
}
