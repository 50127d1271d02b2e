package rank

import (
	"fmt"
	"runtime"
	"time"

	"github.com/bnctl/bnctl/device/serve"
)

// run is the thread's work, until this rank has left, or is made to.
func (r *rank) run() {
	r.out, r.in = make([]route, lanes*r.Size()), make([]route, lanes*r.Size())
	r.left, r.active = make([]bool, r.Size()), time.Now()
	for !r.over {
		if r.obey() || r.turn() {
			r.active = time.Now()
			continue
		}
		r.rest()
	}
}

// obey carries out the orders, and reports whether there were any.
func (r *rank) obey() bool {
	r.mu.Lock()
	orders := r.orders
	r.orders = nil
	r.mu.Unlock()
	for _, f := range orders {
		f()
	}
	return len(orders) > 0
}

// turn looks at everything once, and reports whether anything has happened.
func (r *rank) turn() bool {
	happened := false
	for _, step := range []func() (bool, error){r.send, r.listen, r.deliver, r.part} {
		did, err := step()
		if err != nil {
			r.tell(err.Error())
		}
		happened = happened || did
	}
	return happened
}

// send begins to send what waits, and forgets what was sent.
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
			o.going, happened = o.going[1:], true
		}
	}
	return happened, nil
}

// listen begins to receive what has come.
func (r *rank) listen() (happened bool, err error) {
	for {
		found, from, tag, n, err := r.mpi.Iprobe()
		if err != nil || !found {
			return happened, err
		}
		happened = true
		if n > max(serve.MaxPart, maxCause) || from < 0 || from >= r.Size() {
			return true, fmt.Errorf("rank %d sends %d bytes with tag %d: it is none of bnctl", from, n, tag)
		}
		p := part{tag: tag, content: make([]byte, n)}
		if p.request, err = r.mpi.Irecv(from, tag, p.content); err != nil {
			return true, err
		}
		if tag < 2*lanes {
			o := &r.in[lanes*from+tag/2]
			o.going = append(o.going, p)
			continue
		}
		if err := r.hear(from, p); err != nil {
			return true, err
		}
	}
}

// maxCause bounds the words with which a rank ends all, in bytes.
const maxCause = 64 << 10

// hear takes a message about the end. It is short: it is there.
func (r *rank) hear(from int, p part) error {
	for done := false; !done; {
		var err error
		if done, err = r.mpi.Test(p.request); err != nil {
			return err
		}
	}
	if p.tag == abortTag {
		r.tell(string(p.content))
		return nil
	}
	if !r.left[from] {
		r.left[from] = true
		o := &r.in[lanes*from]
		o.waiting = append(o.waiting, part{tag: leaveTag}) // to be told of when all is delivered
	}
	return nil
}

// deliver gives the host what has come, in the order of each route.
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
			o.going, happened, r.awaiting = o.going[1:], true, false
			r.inbox.Message(i/lanes, uint8(i%lanes), p.content, p.tag%2 == 1)
		}
		if i%lanes == lanes-1 && len(o.going) == 0 && len(r.in[i-1].going) == 0 && len(r.in[i-1].waiting) > 0 {
			r.in[i-1].waiting, happened = nil, true
			r.departed++
			r.inbox.Left(i / lanes)
		}
	}
	return happened, nil
}

// part leaves, when the host has: it tells the others once all is sent, and ends
// MPI when all of them have left too.
func (r *rank) part() (happened bool, err error) {
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
	if !r.said {
		r.said = true
		r.toAll(leaveTag, nil)
		return true, nil
	}
	if r.departed < r.Size()-1 {
		return happened, nil
	}
	r.over = true
	err = r.mpi.Finalize()
	r.inbox.Left(r.Rank())
	return true, err
}

// busy reports whether anything is still to be sent.
func (r *rank) busy() bool {
	for i := range r.out {
		if len(r.out[i].waiting)+len(r.out[i].going) > 0 {
			return true
		}
	}
	return false
}

const (
	// awake is how long the thread looks without a nap after something happened.
	awake = 50 * time.Microsecond
	// shortest and longest bound a nap. In between it is a part of the time that
	// nothing has happened for, so that what it costs is too: a small one while an
	// answer is due, a large one while devices compute. Whoever sends ends a nap.
	shortest = 20 * time.Microsecond
	longest  = time.Millisecond
	due      = 16
	calm     = 2
)

// rest lets others have the core: devices compute while ranks wait.
func (r *rank) rest() {
	idle := time.Since(r.active)
	if idle < awake && r.awaiting {
		runtime.Gosched()
		return
	}
	share := time.Duration(calm)
	if r.awaiting {
		share = due
	}
	r.bell.nap(min(max(idle/share, shortest), longest))
}

var _ serve.Station = (*rank)(nil)
