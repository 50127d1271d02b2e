package rank

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device/serve"
)

// run is the body of the thread. It returns after this rank has left, or must end.
func (r *rank) run() {
	r.out, r.in = make([]route, lanes*r.Size()), make([]route, lanes*r.Size())
	r.left = make([]bool, r.Size())
	for active, rest := time.Now(), time.Duration(0); !r.finished; rest = r.rest(time.Since(active)) {
		ordered, err := r.host.Poll(r, rest)
		if r.closing.Load() || err != nil { // without Leave, no rank must continue without this one
			r.mpi.Abort()
			return
		}
		if r.turn() || ordered {
			active = time.Now()
		}
	}
}

// turn does everything once that can be done without waiting, and reports whether anything happened.
func (r *rank) turn() bool {
	happened := false
	for _, step := range []func() (bool, error){r.send, r.listen, r.deliver, r.leave} {
		did, err := step()
		if err != nil {
			r.tell(err.Error())
		}
		happened = happened || did
	}
	return happened
}

// send begins to send the waiting packets, and removes those that have been sent.
func (r *rank) send() (happened bool, err error) {
	for i := range r.out {
		o := &r.out[i]
		for len(o.waiting) > 0 && len(o.going) < window {
			p := o.waiting[0]
			if p.request, err = r.mpi.Isend(i/lanes, p.tag, p.content); err != nil {
				return happened, err
			}
			o.waiting, o.going, happened = o.waiting[1:], append(o.going, p), true
		}
		for len(o.going) > 0 {
			done, err := r.mpi.Test(o.going[0].request)
			if err != nil {
				return happened, err
			}
			if !done {
				break
			}
			switch p := o.going[0]; {
			case p.last:
				r.host.Sent(i/lanes, uint8(i%lanes))
			case !p.lent:
				r.host.Reuse(p.content)
			}
			o.going, happened = o.going[1:], true
		}
	}
	return happened, nil
}

// listen begins to receive the messages that have arrived.
func (r *rank) listen() (happened bool, err error) {
	for {
		found, from, tag, n, err := r.mpi.Iprobe()
		if err != nil || !found {
			return happened, err
		}
		happened = true
		p, err := r.newPacket(from, tag, n)
		if err != nil {
			return true, err
		}
		if p.request, err = r.mpi.Irecv(from, tag, p.content); err != nil {
			return true, err
		}
		switch {
		case tag < wholeTag:
			o := &r.in[lanes*from+tag/2]
			o.going = append(o.going, p)
		case tag < wholeTag+lanes:
			err = r.beginWhole(&r.in[lanes*from+tag-wholeTag], p)
		default:
			err = r.receiveEnd(from, p)
		}
		if err != nil {
			return true, err
		}
	}
}

// newPacket returns a packet with memory for n bytes from a peer. Packets of a message of
// known length are contiguous.
func (r *rank) newPacket(peer, tag, n int) (packet, error) {
	p := packet{tag: tag}
	if peer < 0 || peer >= r.Size() || tag < 0 || n < 0 {
		return p, foreign(peer, tag, n)
	}
	if tag < wholeTag {
		if o := &r.in[lanes*peer+tag/2]; o.message != nil {
			left := o.message[o.came:]
			if n == 0 || n > len(left) || tag%2 == 0 {
				return p, foreign(peer, tag, n)
			}
			p.content, o.came, p.lent = left[:n], o.came+n, true
			if n == len(left) {
				p.message, o.message = o.message, nil
			}
			return p, nil
		}
	}
	if n > max(serve.MaxContent, maxCause) {
		return p, foreign(peer, tag, n)
	}
	p.content = r.buffer(n)
	return p, nil
}

func foreign(peer, tag, n int) error {
	return fmt.Errorf("rank %d sends %d bytes with tag %d: it is none of bnctl", peer, n, tag)
}

// beginWhole allocates memory for a message after its length has arrived.
func (r *rank) beginWhole(o *route, p packet) error {
	if err := r.complete(p); err != nil {
		return err
	}
	head, n := p.content, uint64(0)
	if len(head) >= 8 {
		n, head = binary.LittleEndian.Uint64(head), head[8:]
	}
	if o.message != nil || n <= uint64(len(head)) || n > math.MaxInt32 {
		return fmt.Errorf("a message of %d bytes with the first %d: it is none of bnctl", n, len(head))
	}
	o.message = r.host.Alloc(int(n))
	o.came = copy(o.message, head)
	r.free = append(r.free, p.content)
	return nil
}

// complete waits until a short transfer is complete. Its data has already arrived.
func (r *rank) complete(p packet) error {
	for done := false; !done; {
		var err error
		if done, err = r.mpi.Test(p.request); err != nil {
			return err
		}
	}
	return nil
}

// buffer returns memory for a message that has arrived.
func (r *rank) buffer(n int) []byte {
	if len(r.free) == 0 {
		return make([]byte, n)
	}
	last := len(r.free) - 1
	b := r.free[last]
	r.free = r.free[:last]
	return slices.Grow(b[:0], n)[:n]
}

// maxCause is the maximum length, in bytes, of the cause that a rank sends when it ends all ranks.
const maxCause = 64 << 10

// receiveEnd handles a message that says that a rank leaves, or that all ranks must end.
func (r *rank) receiveEnd(peer int, p packet) error {
	if err := r.complete(p); err != nil {
		return err
	}
	if p.tag == abortTag {
		r.tell(string(p.content))
		return nil
	}
	if !r.left[peer] {
		r.left[peer] = true
		o := &r.in[lanes*peer]
		o.waiting = append(o.waiting, packet{tag: leaveTag}) // reported after all earlier messages
	}
	return nil
}

// deliver passes the arrived packets to the host, in the order of each route.
func (r *rank) deliver() (happened bool, err error) {
	for i := range r.in {
		o := &r.in[i]
		for len(o.going) > 0 {
			p := o.going[0]
			done, err := r.mpi.Test(p.request)
			if err != nil {
				return happened, err
			}
			if !done {
				break
			}
			o.going, happened = o.going[1:], true
			r.give(i, p)
		}
		if i%lanes == lanes-1 && len(o.going) == 0 && len(r.in[i-1].going) == 0 && len(r.in[i-1].waiting) > 0 {
			r.in[i-1].waiting, happened = nil, true
			r.departed++
			r.host.Left(i / lanes)
		}
	}
	return happened, nil
}

// give passes a packet that has arrived on a route to the host.
func (r *rank) give(i int, p packet) {
	more := p.tag%2 == 1 && p.message == nil
	if !more {
		r.arrived(&r.in[i], i%lanes)
	}
	switch {
	case p.message != nil:
		r.host.WholeMessage(i/lanes, uint8(i%lanes), p.message)
	case !p.lent:
		r.host.Message(i/lanes, uint8(i%lanes), p.content, more)
		r.free = append(r.free, p.content)
	}
}

// arrived counts a complete message.
func (r *rank) arrived(o *route, lane int) {
	o.got++
	if o.awaited {
		o.awaited = false
		r.awaited[lane]--
	}
}

// leave ends this rank after the host has left. It informs the other ranks once everything is sent, and
// finalises MPI when all of them have left too.
func (r *rank) leave() (happened bool, err error) {
	for len(r.control) > 0 {
		done, err := r.mpi.Test(r.control[0])
		if err != nil || !done {
			return happened, err
		}
		r.control, happened = r.control[1:], true
	}
	if !r.leaving || r.busy() {
		return happened, nil
	}
	if !r.leaveSent {
		r.leaveSent = true
		r.toAll(leaveTag, nil)
		return true, nil
	}
	if r.departed < r.Size()-1 {
		return happened, nil
	}
	r.finished = true
	err = r.mpi.Finalize()
	r.host.Left(r.Rank())
	return true, err
}

// busy reports whether any packet is still to be sent.
func (r *rank) busy() bool {
	for i := range r.out {
		if len(r.out[i].waiting)+len(r.out[i].going) > 0 {
			return true
		}
	}
	return false
}

// receives reports whether a message is still arriving.
func (r *rank) receives() bool {
	for i := range r.in {
		if len(r.in[i].going) > 0 {
			return true
		}
	}
	return false
}

const (
	// awake is how long the thread checks without a nap after something happened, if the
	// host waits for a message or one is in progress.
	awake = 50 * time.Microsecond
	// shortest and longest bound a nap. Its length is a fraction of the idle time, which also limits its
	// relative cost. While the idle time is below the constant soon, the fraction is smaller, because one
	// answer often follows another. While the host waits for no message, devices compute, and naps are long.
	// While it waits, a core is free, and no nap is longer than longestWait: if devices are some milliseconds
	// apart, they would otherwise lose a third of this time at every exchange. Every order of the host ends a
	// nap. If nothing happens, for example because all ranks are on one machine, naps grow with the idle time
	// up to a tenth of a second.
	shortest    = 20 * time.Microsecond
	soon        = 400 * time.Microsecond
	longestWait = 250 * time.Microsecond
	longest     = 5 * time.Millisecond
	dormant     = 100 * time.Millisecond
	idleShare   = 3
	seldom      = 20 // divides the idle time while the host does not wait
	// besideCompute bounds a nap while the host waits only for gradients: most likely
	// devices compute, and a nap costs them 20 microseconds.
	besideCompute = time.Millisecond
)

// rest returns the length of the thread's nap after the given idle time. The thread naps because devices
// may need its core while it waits for messages.
func (r *rank) rest(idle time.Duration) time.Duration {
	most := longestWait
	switch {
	case r.awaited == [lanes]int{} && !r.busy() && !r.receives():
		return min(max(idle/seldom, longest), dormant)
	case idle < awake:
		return 0
	case r.awaited[moments] == 0:
		most = besideCompute
	}
	return min(max(idle*min(idle, soon)/(idleShare*soon), shortest), most)
}

var _ serve.Endpoint = (*rank)(nil)
