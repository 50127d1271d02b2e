package rank

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/plugins/mpi/internal/mpi"
)

// These are the tags of messages. In lane n, the last packet of a message has tag 2n, and the packets
// before it have tag 2n+1. A packet with tag wholeTag+n comes before a message and has its length.
const (
	wholeTag = 2 * lanes
)

const (
	leaveTag = 100 + iota // the sender sends nothing more
	abortTag              // all ranks must end; the content is the cause
)

const lanes = 2

// moments is the number of the lane with messages that devices wait for.
const moments = 0

// rank sends and receives messages. A single thread does that, in a loop: it carries out the orders of the
// host, checks the messages in progress, and naps.
type rank struct {
	mpi     *mpi.MPI
	host    serve.Host
	closing atomic.Bool   // the thread must end
	done    chan struct{} // closed when the thread has ended

	// Only the thread uses the fields from here on.
	out         []route // by peer and lane
	in          []route
	free        [][]byte        // buffers of delivered messages, for reuse
	control     []*mpi.Transfer // messages that this rank leaves or that all must end, while they are sent
	leaving     bool            // the host has left
	leaveSent   bool            // the other ranks know that the host has left
	left        []bool          // ranks that have left
	departed    int             // number of ranks that have left
	finished    bool            // the thread has nothing more to do
	endReported bool            // the host knows that the fabric has ended
	awaited     [lanes]int      // number of routes that the host waits for, by lane
}

// route has the packets in one direction between this rank and a peer, in one lane.
type route struct {
	waiting []packet
	going   []packet
	got     uint64 // number of messages delivered
	awaited bool   // the host waits for the next message
	message []byte // the message of known length that is arriving, or nil
	came    int    // bytes of message that have arrived or are reserved for a packet
}

type packet struct {
	tag     int
	content []byte
	request *mpi.Transfer
	message []byte // the message that is complete with this packet, if its length was sent first
	lent    bool   // the content belongs to bnctl, not to the pool of buffers
	last    bool   // this packet is also the last one of its message
}

// window is the maximum number of packets of a route in progress. It is large enough to keep a network
// busy, and small enough that the other lane does not wait long.
const window = 4

// Rank implements serve.Endpoint.
func (r *rank) Rank() int { return r.mpi.Rank }

// Size implements serve.Endpoint.
func (r *rank) Size() int { return r.mpi.Size }

// About implements serve.Endpoint.
func (r *rank) About() string { return r.mpi.About }

// Send implements serve.Endpoint.
func (r *rank) Send(peer int, lane uint8, content []byte, more bool) {
	if peer < 0 || peer >= r.Size() || lane >= lanes {
		r.tell("bnctl sends to a rank that is not there")
		return
	}
	tag := 2 * int(lane)
	if more {
		tag++
	}
	o := &r.out[lanes*peer+int(lane)]
	o.waiting = append(o.waiting, packet{tag: tag, content: content})
}

// SendWhole implements serve.Endpoint. It sends the length first, so that the peer can allocate memory
// for the message. If the first piece is short, it is sent together with the length.
func (r *rank) SendWhole(peer int, lane uint8, pieces [][]byte) {
	if peer < 0 || peer >= r.Size() || lane >= lanes {
		r.tell("bnctl sends to a rank that is not there")
		return
	}
	total := 0
	for _, b := range pieces {
		total += len(b)
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(total))
	if len(pieces[0]) <= short {
		head, pieces = append(head, pieces[0]...), pieces[1:]
	}
	o := &r.out[lanes*peer+int(lane)]
	o.waiting = append(o.waiting, packet{tag: wholeTag + int(lane), content: head, lent: true})
	for _, b := range pieces {
		for ; len(b) > 0; b = b[min(len(b), wholePart):] {
			p := packet{tag: 2*int(lane) + 1, content: b[:min(len(b), wholePart)], lent: true}
			o.waiting = append(o.waiting, p)
		}
	}
	o.waiting[len(o.waiting)-1].last = true
}

const (
	// short is the maximum length of a first piece that is sent with the length of its message.
	short = 4 << 10
	// wholePart is the maximum length of a packet, if the length of the message was sent first. The other lane
	// can send between two packets.
	wholePart = 1 << 20
)

// Await implements serve.Endpoint.
func (r *rank) Await(peer int, lane uint8, got uint64) {
	if peer < 0 || peer >= r.Size() || lane >= lanes {
		return
	}
	if i := &r.in[lanes*peer+int(lane)]; got == i.got && !i.awaited {
		i.awaited = true
		r.awaited[lane]++
	}
}

// Abort implements serve.Endpoint.
func (r *rank) Abort(cause string) {
	r.endReported = true // the host called Abort, so it need not be informed
	r.toAll(abortTag, []byte(cause))
}

// Leave implements serve.Endpoint.
func (r *rank) Leave() { r.leaving = true }

// Close implements serve.Endpoint. If this rank has not left, Close ends all others: no
// rank may continue without it.
func (r *rank) Close() {
	r.closing.Store(true)
	select {
	case <-r.done:
	case <-time.After(300 * time.Millisecond): // the library does not respond
	}
}

// toAll begins to send a message to all other ranks: this rank leaves, or all ranks must end.
func (r *rank) toAll(tag int, content []byte) {
	for to := range r.Size() {
		if to == r.Rank() {
			continue
		}
		q, err := r.mpi.Isend(to, tag, content)
		if err != nil {
			r.tell(err.Error())
			return
		}
		r.control = append(r.control, q)
	}
}

// tell informs the host, once, that the fabric can no longer be used.
func (r *rank) tell(cause string) {
	if !r.endReported {
		r.endReported = true
		r.host.Ended(cause)
	}
}
