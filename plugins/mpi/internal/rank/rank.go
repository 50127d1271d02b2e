package rank

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/plugins/mpi/internal/mpi"
)

// Tags of messages. Lane n uses tag 2n for the last packet of a message, and 2n+1 if more
// packets follow. A packet with tag wholeTag+n comes before a message and has its length.
const (
	wholeTag = 2 * lanes
)

const (
	leaveTag = 100 + iota // nothing comes any more
	abortTag              // why all are to end
)

const lanes = 2

// moments is the lane that devices wait for.
const moments = 0

// rank moves messages. One thread does all of it: it carries out the orders of the host,
// checks the messages in progress, naps, and checks again.
type rank struct {
	mpi     *mpi.MPI
	host    serve.Host
	closing atomic.Bool   // the thread is to end all
	done    chan struct{} // closed when it is done

	// Only the thread uses the fields from here on.
	out      []route // by peer and lane
	in       []route
	free     [][]byte        // buffers of delivered messages, for reuse
	control  []*mpi.Transfer // messages about the end that are being sent
	leaving  bool            // the host has left
	said     bool            // and the others know
	left     []bool          // by rank
	departed int             // how many have left
	over     bool            // there is nothing more to do
	told     bool            // the host knows of the end
	awaited  [lanes]int      // number of routes that the host waits for, by lane
}

// route is the packets that go to or come from a peer in a lane.
type route struct {
	waiting []packet
	going   []packet
	got     uint64 // messages delivered
	awaited bool   // the host waits for the next
	whole   []byte // the message of known length that is arriving, or nil
	came    int    // bytes of it that have packets
}

type packet struct {
	tag     int
	content []byte
	request *mpi.Transfer
	whole   []byte // the message that it is the last part of, if the length of that was known
	lent    bool   // the content is bnctl's
	last    bool   // and the message's last
}

// window is the maximum number of packets of a route in progress: enough to keep a network
// busy, few enough for the other lane to get through.
const window = 4

// Rank implements serve.Endpoint.
func (r *rank) Rank() int { return r.mpi.Rank }

// Size implements serve.Endpoint.
func (r *rank) Size() int { return r.mpi.Size }

// About implements serve.Endpoint.
func (r *rank) About() string { return r.mpi.About }

// Send implements serve.Endpoint.
func (r *rank) Send(to int, lane uint8, content []byte, more bool) {
	if to < 0 || to >= r.Size() || lane >= lanes {
		r.tell("bnctl sends to a rank that is not there")
		return
	}
	tag := 2 * int(lane)
	if more {
		tag++
	}
	o := &r.out[lanes*to+int(lane)]
	o.waiting = append(o.waiting, packet{tag: tag, content: content})
}

// SendWhole implements serve.Endpoint. The length goes first, so that the peer has
// memory for all of the message, and a short piece before all others with it.
func (r *rank) SendWhole(to int, lane uint8, pieces [][]byte) {
	if to < 0 || to >= r.Size() || lane >= lanes {
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
	o := &r.out[lanes*to+int(lane)]
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
	// short is how long a piece may be that goes with the length of its message.
	short = 4 << 10
	// wholePart is how much of a message goes at once: the other lane gets through between.
	wholePart = 1 << 20
)

// Await implements serve.Endpoint.
func (r *rank) Await(from int, lane uint8, got uint64) {
	if from < 0 || from >= r.Size() || lane >= lanes {
		return
	}
	if i := &r.in[lanes*from+int(lane)]; got == i.got && !i.awaited {
		i.awaited = true
		r.awaited[lane]++
	}
}

// Abort implements serve.Endpoint.
func (r *rank) Abort(cause string) {
	r.told = true // the host knows: it is the caller
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
	case <-time.After(300 * time.Millisecond): // the library does not answer
	}
}

// toAll begins to send a message about the end to all others.
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

// tell reports to the host, once, that the fabric can no longer be used.
func (r *rank) tell(cause string) {
	if !r.told {
		r.told = true
		r.host.Ended(cause)
	}
}
