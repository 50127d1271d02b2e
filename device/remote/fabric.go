package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/fabric/mailbox"
	"github.com/bnctl/bnctl/device/internal/fabricpb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/internal/awake"
)

// Fabric is a fabric.Fabric with its plugin in a separate process.
//
// This process and the plugin exchange frames over the two rings of a segment, as the two ends of
// a link do. Only the plugin loads the network's library (MPI), which allows one thread at a time.
// A crash in the library ends the plugin, and this process reports it.
//
//	goroutines of this rank        this process                 plugin            other ranks
//	  Send(to 2, gradients) ──> sending, writing ═ Part, Message ══> MPI_Isend ─────>
//	  Receive(from 1, …)    <── boxes[1][…] <── read ══ Message ══< MPI_Irecv <─────
//	  Receive, nothing there ──────────────────── Await ══════════> polls more often from then on
//	  Close                 ──────────────────── Leave ═══════════> waits for the others, Left
//
// The plugin may send these frames at any time: Left (a rank has left), Ended (the fabric can no
// longer be used), Pool and Back (lend.go). over is closed with the first end of any kind, and cause
// holds the reason; every call returns that cause from then on.
type Fabric struct {
	peer    *peer
	binary  *binary
	pipe    wire.Pipe
	rank    int
	name    string
	boxes   [][collective.Lanes]*mailbox.Box[[]byte] // boxes by rank and lane
	left    []chan struct{}                          // closed when a rank has left; for this rank: when all have
	over    chan struct{}                            // closed when the fabric has ended
	cause   string                                   // reason of the end; valid when over is closed
	once    sync.Once                                // guards the end
	leave   sync.Once
	reader  sync.WaitGroup
	writing sync.Mutex                        // locked while a frame is written
	sending [][collective.Lanes]sync.Mutex    // locked while a message to a rank is sent
	coming  [][collective.Lanes]incoming      // by rank; only used by read
	got     [][collective.Lanes]atomic.Uint64 // by rank: number of messages that have arrived
	awaited [][collective.Lanes]uint64        // by rank: got + 1 at the last Await frame
	free    messagePool
	*zeroCopy
}

// JoinFabric starts a fabric plugin, which makes this process a rank, and returns when all
// ranks have joined or ctx has ended. library is the path of the library to use; "" selects
// the launcher's library. The error is of kind Unavailable.
func JoinFabric(ctx context.Context, c Command, library string) (*Fabric, error) {
	if err := c.inheritLauncher(); err != nil {
		return nil, err
	}
	b, err := openBinary(&c)
	if err != nil {
		return nil, err
	}
	f := &Fabric{binary: b, over: make(chan struct{})}
	if f.peer, err = connect(ctx, &c, b); err == nil {
		err = f.join(ctx, library)
	}
	if err != nil {
		f.release()
		return nil, err
	}
	f.reader.Go(f.read)
	return f, nil
}

// join makes the process a rank. The plugin maps the segment and starts the library. When all ranks
// have joined, it answers with the number of this rank and the number of ranks.
func (f *Fabric) join(ctx context.Context, library string) error {
	c := f.peer.command
	offer := f.peer.offer()
	if offer == nil {
		return c.fail("join", device.Unavailable, "a fabric needs shared memory: %s", f.peer.noShm)
	}
	in := &fabricpb.JoinRequest{Library: library, File: offer.File, Bytes: offer.Bytes, Bell: offer.Bell}
	pool, err := shm.NewPool()
	if err == nil { // without a pool, all messages are copied
		in.Pool = pool.Path()
		defer pool.Close()
	}
	reply, err := fabricpb.NewFabricClient(f.peer.line).Join(ctx, in)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return f.peer.broken("plugin "+c.Name, "join", err)
	case reply.GetError() != "":
		return c.fail("join", device.Unavailable, "%s", reply.GetError())
	case reply.GetSize() == 0 || reply.GetRank() >= reply.GetSize():
		return c.fail("join", device.Unavailable, "it says that this is rank %d of %d", reply.GetRank(),
			reply.GetSize())
	}
	f.rank, f.name = int(reply.GetRank()), reply.GetAbout()
	f.sending = make([][collective.Lanes]sync.Mutex, reply.GetSize())
	f.coming = make([][collective.Lanes]incoming, reply.GetSize())
	f.got = make([][collective.Lanes]atomic.Uint64, reply.GetSize())
	f.awaited = make([][collective.Lanes]uint64, reply.GetSize())
	if !reply.GetPools() {
		pool = nil
	}
	f.zeroCopy = newZeroCopy(pool, int(reply.GetSize()), f.write)
	for range reply.GetSize() {
		f.left = append(f.left, make(chan struct{}))
		box := mailbox.New[[]byte]
		f.boxes = append(f.boxes, [collective.Lanes]*mailbox.Box[[]byte]{box(), box()})
	}
	memory, err := shm.Map(f.peer.segment, shm.Bytes)
	if err != nil {
		return err
	}
	bell := f.peer.bell[0]
	f.peer.bell[0] = nil // the connection owns it from now on
	f.pipe, err = shm.Host(memory, bell)
	return err
}

// read handles the frames of the plugin until the connection ends.
func (f *Fabric) read() {
	f.reader.Go(func() { // unblocks read if the process is gone
		<-f.peer.process.exited
		f.pipe.Close()
	})
	for {
		m, err := wire.ReadFrame(f.pipe, f.bufferFor)
		if err == nil && m.Kind == wire.FrameViews {
			f.coming[m.Peer][m.Lane].message, err = f.receivedMessage(m)
		}
		if err != nil {
			f.end(fmt.Sprintf("the plugin %s is gone: %s", f.peer.command.Name, f.lastWords()))
			return
		}
		switch m.Kind {
		case wire.FrameEnded:
			f.end(string(m.Content))
		case wire.FramePool:
			if len(m.Content) == 0 {
				f.setMapped(m.Peer)
			}
		case wire.FrameBack:
			f.setReturned(m)
		case wire.FrameMessage, wire.FrameViews:
			in := &f.coming[m.Peer][m.Lane]
			f.got[m.Peer][m.Lane].Add(1)
			f.boxes[m.Peer][m.Lane].Put(in.message)
			*in = incoming{largest: max(in.largest, len(in.message))}
		case wire.FrameLeft:
			if !isClosed(f.left[m.Peer]) {
				close(f.left[m.Peer])
			}
		}
	}
}

// incoming is the received part of a message. Its memory comes from the pool of reused messages,
// with the size of the largest message so far.
type incoming struct {
	message []byte
	largest int // bytes of the largest message so far; the next one is probably as large
}

// bufferFor returns the memory for the content of a frame, which follows the earlier frames of the same
// message. It checks rank and lane, because they are indices from another process.
func (f *Fabric) bufferFor(m wire.Frame, n int) ([]byte, error) {
	if m.Kind == wire.FramePool {
		return make([]byte, n), nil
	}
	if m.Peer >= len(f.boxes) || m.Lane >= collective.Lanes {
		f.end(fmt.Sprintf("the plugin %s speaks of rank %d and lane %d", f.peer.command.Name, m.Peer, m.Lane))
		return nil, errNoRank
	}
	if m.Kind != wire.FramePart && m.Kind != wire.FrameMessage {
		return make([]byte, n), nil
	}
	in := &f.coming[m.Peer][m.Lane]
	if in.message == nil {
		most := n
		if m.Kind == wire.FramePart {
			most = max(in.largest, n)
		}
		in.message = f.free.get(most)
	}
	at := len(in.message)
	in.message = slices.Grow(in.message, n)[:at+n]
	return in.message[at:], nil
}

var errNoRank = errors.New("there is no such rank")

// lastWords describes how the plugin ended, or reports that it has not ended.
func (f *Fabric) lastWords() string {
	if !f.peer.process.within(exitTimeout) {
		return "its connection broke"
	}
	return f.peer.process.howItEnded()
}

// end ends the fabric on this side. Only the first cause counts.
func (f *Fabric) end(cause string) {
	f.once.Do(func() {
		f.cause = cause
		close(f.over)
	})
}

// isClosed reports whether c is closed. Nothing is ever sent on c.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// About returns the name of the network or library.
func (f *Fabric) About() string { return f.name }

// Rank implements fabric.Fabric.
func (f *Fabric) Rank() int { return f.rank }

// Size implements fabric.Fabric.
func (f *Fabric) Size() int { return len(f.boxes) }

// check refuses a peer or a lane that does not exist, and this rank itself.
func (f *Fabric) check(peer int, lane collective.Lane) error {
	if peer < 0 || peer >= f.Size() || peer == f.rank || lane >= collective.Lanes {
		return fmt.Errorf("rank %d: lane %d of rank %d: there are %d ranks and %d lanes, and none sends to itself",
			f.rank, lane, peer, f.Size(), collective.Lanes)
	}
	return nil
}

// ended returns the reason why the fabric has ended, or nil if it has not.
func (f *Fabric) ended() error {
	if isClosed(f.over) {
		return fmt.Errorf("%w: %s", fabric.Ended, f.cause)
	}
	return nil
}

// Send implements fabric.Fabric.
func (f *Fabric) Send(ctx context.Context, to int, lane collective.Lane, pieces ...[]byte) error {
	if err := f.check(to, lane); err != nil {
		return err
	}
	f.sending[to][lane].Lock() // keeps the frames of a message together
	defer f.sending[to][lane].Unlock()
	if views := f.lendableViews(pieces); views != nil {
		return f.lend(ctx, to, lane, views)
	}
	m := wire.Frame{Kind: wire.FramePart, Lane: uint8(lane), Peer: to}
	for m.Kind == wire.FramePart {
		if m.Rest, pieces = wire.Pieces(pieces); len(pieces) == 0 {
			m.Kind = wire.FrameMessage
		}
		if err := f.write(m); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// write writes a frame to the plugin. After the end of the fabric it writes nothing.
func (f *Fabric) write(m wire.Frame) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.ended(); err != nil {
		return err
	}
	if err := wire.WriteFrame(f.pipe, m); err != nil {
		return fmt.Errorf("%w: the plugin %s: %w", fabric.Ended, f.peer.command.Name, err)
	}
	return nil
}

// Receive implements fabric.Fabric.
func (f *Fabric) Receive(ctx context.Context, from int, lane collective.Lane) ([]byte, error) {
	if err := f.check(from, lane); err != nil {
		return nil, err
	}
	box := f.boxes[from][lane]
	for {
		if err := f.ended(); err != nil {
			return nil, err
		}
		gone := isClosed(f.left[from]) // checked before Take, so that earlier messages have arrived
		if m, ok := box.Take(); ok {
			return m, nil
		}
		if gone {
			return nil, fmt.Errorf("%w: rank %d has left", fabric.Ended, from)
		}
		if err := f.await(from, lane); err != nil {
			return nil, err
		}
		left := f.left[from]
		select {
		case <-box.Arrived():
		case <-left:
		case <-f.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// await notifies the plugin, once for each message, that this process waits for the next
// message of a rank and lane. The frame contains the number of messages that have arrived here.
// If the plugin has passed on more messages than that, one is on its way to this process, and the
// plugin need not poll more often.
func (f *Fabric) await(from int, lane collective.Lane) error {
	got := f.got[from][lane].Load()
	if f.awaited[from][lane] == got+1 {
		return nil
	}
	f.awaited[from][lane] = got + 1
	return f.write(wire.Await(from, uint8(lane), got))
}

// Abort implements fabric.Fabric. The plugin notifies all ranks; this rank ends at once.
func (f *Fabric) Abort(cause string) {
	_ = f.write(wire.Frame{Kind: wire.FrameAbort, Content: []byte(cause)})
	f.end(cause)
}

const (
	// closeTimeout is the time that a rank waits for the others to leave.
	closeTimeout = 20 * time.Second
	// closeTimeoutAfterAbort is the time that a rank waits instead if the fabric has ended without agreement
	// of all ranks. Some ranks may be gone, and never leave.
	closeTimeoutAfterAbort = 500 * time.Millisecond
)

// Close implements fabric.Fabric. It waits some seconds for the other ranks to leave
// too.
func (f *Fabric) Close() error {
	f.leave.Do(func() {
		timeout := closeTimeout
		if isClosed(f.over) {
			timeout = closeTimeoutAfterAbort
		}
		f.writing.Lock()
		err := wire.WriteFrame(f.pipe, wire.Frame{Kind: wire.FrameLeave})
		f.writing.Unlock()
		if err == nil {
			waiting, stop := awake.WithTimeout(context.Background(), timeout)
			select {
			case <-f.left[f.rank]:
			case <-waiting.Done():
			case <-f.peer.process.exited:
			}
			stop()
		}
		f.end(fmt.Sprintf("rank %d has closed it", f.rank))
		f.release()
		f.reader.Wait()
	})
	return nil
}

// release ends the plugin, which also ends the connection and the goroutine of read.
func (f *Fabric) release() {
	if f.peer != nil {
		f.peer.end()
	}
	_ = f.binary.close() // closing a file that was only read cannot lose data
}

// launcherFile is the descriptor at which a fabric plugin inherits the connection to the
// launcher, if the launcher gave one to bnctl.
const launcherFile = "6"

// inheritLauncher passes the launcher's environment and the descriptor in PMI_FD (MPICH's
// family) on to the plugin.
func (c *Command) inheritLauncher() error {
	c.Env = append(c.Env, os.Environ()...)
	f, err := launcherSocket()
	if err != nil || f == nil {
		return err
	}
	c.files = []*os.File{f}
	c.Env = append(c.Env, pmiKey+"="+launcherFile)
	return nil
}
