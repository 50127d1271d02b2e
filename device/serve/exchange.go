package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// join makes the device a member of a group. The group exchanges through shared memory or, at every
// other level, through the host.
func (s *session) join(ctx context.Context, in *pb.Join) error {
	g := wire.DecodeGroup(in)
	meet := collective.Exchanger(&s.exchanger)
	var member *shm.Member
	if s.apart && (g.Level == device.CollShm || in.GetPool() != "") {
		return device.Errorf("", "", device.Invalid,
			"the host is on another machine, and shares no memory with this one")
	}
	if g.Level == device.CollShm && g.Check() == nil {
		if !g.Whole() { // exchanges include the host
			return device.Errorf("", "", device.Unavailable, "level %s: the members hold a part of the tree of "+
				"%d leaves, and meet nobody else in shared memory", g.Level, g.Leaves())
		}
		var err error
		if member, err = shm.Join(string(g.Rendezvous), g.Generation, g.Rank, g.Replicas); err != nil {
			return device.Errorf("", "", device.Unavailable, "level %s: %w", g.Level, err)
		}
		meet = member
	}
	var together *meeting
	if g.Level == device.OnMachine {
		var err error
		if s.meetings == nil {
			return device.Errorf("", "", device.Invalid, "level %s is for devices of other machines", g.Level)
		}
		if together, meet, err = s.meetings.join(g, &s.exchanger); err != nil {
			return device.Errorf("", "", device.Invalid, "level %s: %w", g.Level, err)
		}
		g.Level, g.Rendezvous, g.Machine = device.Stream, nil, nil // hidden from the device
	}
	g.Exchange = &s.scheduled
	if err := s.device.Join(ctx, g); err != nil {
		leave(member)
		together.leave()
		return err
	}
	leave(s.member)
	s.together.leave()
	s.together = together
	s.member, s.scheduled.Exchanger, s.scheduled.replicas = member, meet, nil
	if g.Check() == nil {
		s.scheduled.replicas = g.Replicas[g.Rank]
	}
	s.exchanger.pool.join(in.GetPool())
	return nil
}

// leave unmaps the memory of a group after this process has left the group.
func leave(m *shm.Member) {
	if m != nil {
		_ = m.Close() // fails only if the memory cannot be unmapped
	}
}

// exchanger exchanges values with the other members of a group through the host. During a run, it sends
// the partial values and receives the results on the session's connection, which has no other messages at
// that time. Its methods may be called from several goroutines, because a device that is itself in
// another process waits for each exchange in a separate goroutine.
//
// If the host accepts turns, a goroutine sends the gradients, and a run can compute and exchange moments
// meanwhile:
//
//	Start(moments)    ── send ──────────────────────────────────────────> pending ── answer ──> done
//	Start(gradients)  ── queue ── goroutine: send, at most maxPending ──> pending ── answer ──> done
type exchanger struct {
	session *session
	pool    chunks
	sending [collective.Lanes]sync.Mutex // locked while a message is sent; without turns, only the first

	mu        sync.Mutex // guards the fields below, and those of the pending exchanges
	pending   []*pendingExchange
	receiving bool          // a goroutine is receiving
	received  chan struct{} // closed, and replaced, when the receiving goroutine has received an answer
	broken    error         // error of the connection

	queue  []*pendingExchange // exchanges of gradients that have not been sent, in order
	sender chan struct{}      // closed when the goroutine that sends the queue has ended; nil: none was started
}

// pendingExchange is an exchange that the host has not answered.
type pendingExchange struct {
	tag    collective.Tag
	values []collective.Reduction
	bytes  int64  // total size of the partial values
	chunk  *chunk // memory of the values in the host's pool; nil: the values are sent
	done   bool
	err    error
}

// When an exchange of gradients is sent, there are at most maxPending pending exchanges, or at most
// maxPendingBytes of partial values if these are in a pool, from which the host reads them without a copy.
// Otherwise pending exchanges occupy memory of the host. Four are enough to overlap the network's delay.
const (
	maxPending      = 4
	maxPendingBytes = 256 << 20
)

// Start sends the partial values, or lets a goroutine send them. The results are received later, by the
// goroutine that waits for this exchange or for another one. If the host accepts only one exchange at a
// time, Start also receives the results.
func (x *exchanger) Start(_ context.Context, tag collective.Tag, values []collective.Reduction) func() error {
	d := &pendingExchange{tag: tag, values: values}
	for _, v := range values {
		for _, p := range v.Partials {
			d.bytes += int64(len(p.Value.Bytes))
		}
	}
	if x.session.turns && tag.Lane == collective.Gradients {
		x.sendLater(d)
		return func() error { return x.awaitQueued(d) }
	}
	if tag.Lane == collective.Gradients {
		x.mu.Lock()
		err := x.makeRoom(d)
		x.mu.Unlock()
		if err != nil {
			return func() error { return err }
		}
	}
	if err := x.send(d); err != nil {
		return func() error { return err }
	}
	if x.session.concurrent {
		return func() error { return x.await(d) }
	}
	err := x.await(d)
	return func() error { return err }
}

// makeRoom waits until an exchange of gradients may be sent. The error is an error of the connection. The
// caller holds mu.
func (x *exchanger) makeRoom(d *pendingExchange) error {
	for {
		waiting := len(x.pending)
		total := d.bytes
		for _, p := range x.pending {
			total += p.bytes
		}
		if waiting < maxPending || x.pool.pool != nil && total <= maxPendingBytes {
			return nil
		}
		if err := x.awaitLocked(x.pending[0]); err != nil && x.broken != nil {
			return err
		}
	}
}

// send sends the partial values of an exchange.
func (x *exchanger) send(d *pendingExchange) error {
	s, m := x.session, &pb.Message{}
	if s.turns {
		m.Lane = pb.Lane(d.tag.Lane)
	}
	x.sending[m.Lane].Lock()
	defer x.sending[m.Lane].Unlock()
	e, partials := wire.EncodeExchange(d.tag, d.values)
	if d.chunk = x.pool.store(e, partials); d.chunk != nil {
		partials = nil
	}
	m.Call, m.Body = s.calls.current(), &pb.Message_Exchange{Exchange: e}
	x.mu.Lock()
	x.pending = append(x.pending, d) // added before it is sent, because another goroutine may receive the answer
	x.mu.Unlock()
	return s.conn.Send(m, partials)
}

// sendLater adds an exchange of gradients to the queue.
func (x *exchanger) sendLater(d *pendingExchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.queue = append(x.queue, d); len(x.queue) == 1 {
		x.sender = make(chan struct{})
		go x.sendQueue(x.sender)
	}
}

// sendQueue sends the queue. It ends when the queue is empty or the connection has failed.
func (x *exchanger) sendQueue(ended chan struct{}) {
	defer close(ended)
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.queue) > 0 && x.broken == nil {
		if x.makeRoom(x.queue[0]) != nil {
			break
		}
		d := x.queue[0]
		x.mu.Unlock()
		err := x.send(d)
		x.mu.Lock()
		x.queue = x.queue[1:]
		if err != nil && x.broken == nil {
			x.broken = err
		}
	}
	x.queue = nil
}

// awaitQueued waits for the host's answer to an exchange of gradients. When it returns, the values are not
// used any more.
func (x *exchanger) awaitQueued(d *pendingExchange) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.awaitLocked(d)
	x.stopSending()
	return err
}

// stopSending waits until no goroutine sends the queue if the connection has failed. The caller holds mu.
func (x *exchanger) stopSending() {
	if sender := x.sender; x.broken != nil && sender != nil {
		x.mu.Unlock()
		<-sender
		x.mu.Lock()
	}
}

// await waits for the host's answer. The host always answers. If the call is cancelled or the group is
// aborted, the answer is an error.
func (x *exchanger) await(d *pendingExchange) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.awaitLocked(d)
}

// awaitLocked does the same as await. The caller holds mu.
func (x *exchanger) awaitLocked(d *pendingExchange) error {
	for !d.done {
		if err := x.advance(); err != nil {
			return err
		}
	}
	return d.err
}

// advance receives the next answer, or waits until another goroutine has received one. The error is an
// error of the connection. The caller holds mu.
func (x *exchanger) advance() error {
	switch {
	case x.broken != nil:
		return x.broken
	case x.receiving:
		wait := x.received
		x.mu.Unlock()
		<-wait
		x.mu.Lock()
		return nil
	}
	x.receiving, x.received = true, make(chan struct{})
	x.mu.Unlock()
	err := x.receive()
	x.mu.Lock()
	x.receiving = false
	if x.broken == nil {
		x.broken = err
	}
	close(x.received)
	return err
}

// count returns the number of pending exchanges.
func (x *exchanger) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.pending)
}

// drain waits for the answers that a device has not waited for.
func (x *exchanger) drain() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.pending)+len(x.queue) > 0 && x.advance() == nil {
	}
	x.stopSending()
}

// receive receives the next answer. The error is the connection's error.
func (x *exchanger) receive() error {
	m, results, err := x.session.conn.Recv(func(m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error) {
		d := x.answered(m.GetReduced())
		if d == nil || len(heads) == 0 {
			return nil, nil
		}
		return wire.Results(d.values), nil
	})
	if err != nil {
		return err
	}
	d := x.answered(m.GetReduced())
	if d == nil {
		return fmt.Errorf("the host answers none of %d exchanges, but with %s", x.count(), wire.Body(m))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pending = slices.DeleteFunc(x.pending, func(o *pendingExchange) bool { return o == d })
	d.done = true
	switch e := m.GetReduced().Error; {
	case e != nil:
		d.err = wire.DecodeError("", "exchange "+d.tag.Name, e)
	case d.chunk != nil && len(results) == 0:
		x.pool.fetch(d.chunk, d.values)
	case d.chunk != nil || len(results) != len(d.values):
		d.err = fmt.Errorf("exchange %s: %d results for %d values", d.tag.Name, len(results), len(d.values))
	}
	return nil
}

// answered returns the exchange that r answers: the only one, or the one with its lane and
// sequence. It returns nil if no exchange matches.
func (x *exchanger) answered(r *pb.Reduced) *pendingExchange {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range x.pending {
		is := collective.Lane(r.GetLane()) == d.tag.Lane && r.GetSequence() == d.tag.Sequence
		if r != nil && (is || !x.session.concurrent) {
			return d
		}
	}
	return nil
}
