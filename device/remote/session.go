package remote

import (
	"context"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/tensor"
)

// session makes the calls on one device, one at a time. A run without exchanges may be sent while
// another one is in progress.
//
// A call is a message with tensors, and has one answer. Before the answer, the device may send
// exchanges. The host answers an exchange when all members of the group have started it:
//
//	host                                          device
//	 Run(step 7, inputs)  ─────────────────────────>  computes
//	                      <───── Exchange(moments)    continues with nodes that need no sums
//	 Hub.Start ... wait
//	 Reduced(sums)        ─────────────────────────>
//	                      <───── Exchange(gradients)  several may be in progress, each on its lane
//	                      <───── Exchange(gradients)
//	 Reduced, Reduced     ─────────────────────────>
//	                      <───── Outcome(outputs)
//
// # Locks
//
// mu orders the sending: the calls of one goroutine are sent together. order (a chain of channels)
// orders the receiving: answers arrive in the order of the calls, and each call waits for its turn
// to read its answers. Therefore a second Run can be sent while the device computes the first one,
// and the device can begin the second one without a pause. Only calls without exchanges may be sent
// ahead, because the goroutine that reads must answer the exchanges.
//
// # How a hanging call ends
//
// When a context ends, the watchdog sends the plugin a Cancel for the call, by a separate call on the
// socket. If the call is not answered within the grace period, the process is killed. The call that
// was reading returns the error of the connection. loss keeps this error, and every later call
// returns it, too.
type session struct {
	peer            *peer
	name            string
	conn            wire.Conn
	host            *shm.Conn       // nil at level stream/1
	fileParts       bool            // the plugin can map files (Write.part)
	pipelinesWrites bool            // the plugin accepts a Write before it has answered earlier ones
	turns           bool            // the plugin accepts messages of two lanes in turns
	life            context.Context // ends when the process ends or the device is closed
	end             context.CancelFunc
	watchers        sync.WaitGroup // watchProcess and watchStream; close waits for them

	closing atomic.Bool
	once    sync.Once

	order    receiveOrder // order of receiving
	loss     loss         // reason why the device is lost
	mu       sync.Mutex   // locked during a call, or only until it is sent if other calls may follow it
	number   uint64       // number of the last call
	group    device.Group
	replying sync.WaitGroup // waits for the exchanges in progress of the call
	answers  answers
	pool     *shm.Pool // memory for values of exchanges; nil: the values are sent and received
}

// watchProcess closes the connection when the process ends, so that no call waits for an
// answer that cannot come.
func (s *session) watchProcess() {
	<-s.peer.process.exited
	s.end()
	s.conn.Close()
}

// watchStream closes a connection through shared memory when the plugin ends the session. Messages are
// in the shared memory, but the end of the session is the end of the stream.
func (s *session) watchStream(stream grpc.BidiStreamingClient[pb.Message, pb.Message]) {
	_, _ = stream.Recv()
	s.conn.Close()
}

// call is one call: the message to send, and the expected answer. The types of the answer's
// tensors, the number of exchanges and their sizes are known from the program; an answer
// that does not match them ends the device.
type call struct {
	name           string // name in errors: "Run train"
	body           *pb.Message
	tensors        []tensor.Tensor
	result         []tensor.Tensor // types of the returned tensors
	free           *messagePool    // memory for the returned tensors; nil: new memory
	limits         limits          // limits of exchanges; zero: exchanges are errors
	progress       wire.Progress   // exchanges that have arrived
	rows           []int           // rows of each replica, for a run
	exchanges      int             // exchanges so far
	exchangedBytes int64           // bytes of the partial values received so far
	unanswered     atomic.Int32    // exchanges without an answer
	waited         atomic.Int64    // nanoseconds that exchanges waited for other members
	// buffers are the buffers of the next exchange in each lane of messages.
	buffers [collective.Lanes]*buffers

	answer *pb.Message
	out    []tensor.Tensor // returned tensors, which belong to the caller
}

// do makes a call and returns the answer and its tensors, which belong to the
// caller. Errors of the device are in the answer.
func (s *session) do(ctx context.Context, c *call) (m *pb.Message, out []tensor.Tensor, err error) {
	err = s.doAll(ctx, c)
	return c.answer, c.out, err
}

// doAll makes at most maxPipelined calls. It sends all of them before it receives the answers, which
// arrive in the same order.
func (s *session) doAll(ctx context.Context, calls ...*call) (err error) {
	s.mu.Lock()
	unlock := sync.OnceFunc(s.mu.Unlock)
	defer unlock()
	for _, c := range calls {
		if err := s.check(ctx, c); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	for _, c := range calls {
		s.number++
		c.body.Call = s.number
	}
	number, follows := s.number, s.mayPipeline(calls)
	before, done := s.order.take()
	defer done()
	if follows {
		err = s.send(calls)
		unlock()
	}
	<-before
	watchdog := s.guard(ctx, number) // the plugin cancels this call and all calls with lower numbers
	if !follows {
		err = s.send(calls)
	}
	if err == nil {
		err = s.receiveAll(ctx, calls)
	}
	if watchdog.stop(); err != nil {
		return s.fail(calls[0].name, err, watchdog)
	}
	return nil
}

// mayPipeline reports whether calls may be sent while other calls are in progress. Only a run without
// exchanges may be sent ahead, and only if the connection has space for it. Otherwise the sender would
// wait until the device has finished another call, perhaps in a system call, and could not be cancelled.
func (s *session) mayPipeline(calls []*call) bool {
	c := calls[0]
	if len(calls) > 1 || !s.pipelinesWrites || c.body.GetRun() == nil || c.limits.total > 0 {
		return false
	}
	const head = 4 << 10 // an upper bound on the message without its tensors
	return s.host == nil || wire.Bytes(c.tensors)+head <= int64(s.host.Available())
}

// send sends calls, each with its tensors. It waits while the connection is full.
func (s *session) send(calls []*call) error {
	for _, c := range calls {
		if err := s.conn.Send(c.body, c.tensors); err != nil {
			return err
		}
	}
	return nil
}

// receiveAll receives the answers of calls, in the order of the calls.
func (s *session) receiveAll(ctx context.Context, calls []*call) (err error) {
	for _, c := range calls {
		if c.answer, c.out, err = s.receive(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if a call cannot be made: the device is closed or lost, ctx has
// ended, or the bytes of a tensor do not match its shape.
func (s *session) check(ctx context.Context, c *call) error {
	switch {
	case s.loss.err() != nil: // also after Close, so that the next run reopens the device
		return s.loss.err()
	case s.closing.Load():
		return device.Errorf(s.name, c.name, device.Invalid, "the device is closed")
	case ctx.Err() != nil:
		return device.Errorf(s.name, c.name, device.Canceled, "%w", ctx.Err())
	}
	for i, t := range c.tensors {
		if n, err := tensor.Size(t.DType, t.Shape); err != nil || n != len(t.Bytes) {
			return device.Errorf(s.name, c.name, device.Invalid, "tensor %d is %v with %d bytes", i, t, len(t.Bytes))
		}
	}
	return nil
}

// receive receives the answer of a call that was sent. When it receives an exchange, it starts the
// exchange and does not wait for it, because the device may send further exchanges or its answer.
func (s *session) receive(ctx context.Context, c *call) (m *pb.Message, out []tensor.Tensor, err error) {
	ctx, end := context.WithCancel(ctx)
	defer func() {
		if end(); err != nil {
			s.conn.Close() // no answers are read from now on
		}
		s.replying.Wait()
	}()
	for {
		m, out, err = s.conn.Recv(func(m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error) {
			return s.allocate(c, m, heads)
		})
		if err != nil {
			return nil, nil, err
		}
		x := m.GetExchange()
		if x == nil {
			return m, out, s.checkExchanged(c, m)
		}
		c.exchanges++
		if err = s.exchange(ctx, c, m.Lane, x, out); err != nil {
			return nil, nil, err
		}
	}
}

// watchdog ends a call after its context has ended. It sends Cancel to the plugin, and kills
// the plugin if the call has not ended after the grace period.
type watchdog struct {
	stop     func() bool
	timedOut atomic.Bool
}

// guard watches the calls up to a number until stop is called. If ctx ends first, the
// watchdog sends Cancel for these calls, and kills the plugin if they have not ended within
// the grace period. The plugin can answer Cancel during a call, because Cancel is a separate
// call on the socket.
func (s *session) guard(ctx context.Context, number uint64) *watchdog {
	p := &watchdog{}
	over, end := context.WithCancel(context.Background())
	ask := context.AfterFunc(ctx, func() {
		_, _ = s.peer.rpc.Cancel(over, &pb.CancelRequest{Call: number})
		waiting, stop := awake.WithTimeout(over, grace)
		defer stop()
		if <-waiting.Done(); over.Err() == nil {
			p.timedOut.Store(true)
			s.peer.process.kill()
		}
	})
	p.stop = func() bool {
		end()
		return ask()
	}
	return p
}

// fail returns the error of a call with a broken connection, and records that the device is
// lost.
func (s *session) fail(name string, err error, p *watchdog) error {
	switch lost := s.loss.err(); {
	case s.closing.Load():
		return device.Errorf(s.name, name, device.Canceled, "the device was closed meanwhile")
	case lost != nil: // the device was lost in an earlier call
		return lost
	case p.timedOut.Load():
		err = s.peer.silent(s.name, name)
	default:
		err = s.peer.broken(s.name, name, err)
	}
	s.conn.Close()
	return s.loss.record(err)
}

// gone reports whether the device is closed or lost. It waits for the call that is being sent.
func (s *session) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing.Load() || s.loss.err() != nil
}
