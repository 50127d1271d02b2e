package serve

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/tensor"
)

// served returns a client of a server for other machines.
func served(t *testing.T) (*Apart, pb.DeviceClient) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := NewApart(ref.Provider{}, ApartOptions{Credentials: insecure.NewCredentials(), MaxBytes: 1000})
	go a.Serve(l)
	t.Cleanup(a.Close)
	c, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(wire.Codec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return a, pb.NewDeviceClient(c)
}

// TestApartSharesNothing checks that a host on another machine gets level stream/1, and no access to files
// or memory of this machine, even if it requests shared memory at descriptors 0 to 10.
func TestApartSharesNothing(t *testing.T) {
	_, c := served(t)
	list, err := c.List(t.Context(), &pb.ListRequest{})
	if err != nil || len(list.Devices) != 1 ||
		!slices.Equal(list.Devices[0].Levels, []string{device.OnMachine, device.Stream}) {
		t.Fatalf("%v, %v: want one device that shares no memory", list, err)
	}
	segment := &pb.Segment{File: 3, Bytes: 1 << 20, Bell: 4}
	out, err := c.Open(t.Context(), &pb.OpenRequest{Id: "0", Segment: segment})
	if err != nil || out.Error != nil || out.Level != device.Stream || out.Parts || out.Rings {
		t.Fatalf("%v, %v: want the level %s without parts of files", out, err, device.Stream)
	}
	stream, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := wire.NewStream(stream, func() {})
	for what, m := range map[string]*pb.Message{
		"a pool": {Body: &pb.Message_Join{Join: &pb.Join{Pool: "/proc/self/fd/3"}}},
		"memory": {Body: &pb.Message_Join{Join: &pb.Join{Level: device.CollShm}}},
	} {
		m.Call = 1
		if err := conn.Send(m, nil); err != nil {
			t.Fatal(err)
		}
		reply, _, err := conn.Recv(nothing)
		if err != nil || !strings.Contains(reply.GetDone().GetError().GetMessage(), "on another machine") {
			t.Errorf("%s: %v, %v", what, reply, err)
		}
	}
	big := tensor.New(tensor.F32, 1000)
	_ = conn.Send(&pb.Message{Call: 2, Body: &pb.Message_Load{Load: &pb.Load{}}}, []tensor.Tensor{big})
	if _, _, err := conn.Recv(nil); err == nil || !strings.Contains(err.Error(), "want at most 1000") {
		t.Errorf("4000 bytes: %v, want the limit", err)
	}
}

func nothing(*pb.Message, []tensor.Tensor) ([]tensor.Tensor, error) { return nil, nil }

// TestApartWritesNoPartsOfFiles checks that a host on another machine cannot write a tensor from a file
// of this machine.
func TestApartWritesNoPartsOfFiles(t *testing.T) {
	s := newSession(t.Context(), nil, &answering{}, &calls{})
	s.apart, s.executables[1] = true, struct{ device.Executable }{}
	err := s.write(t.Context(), &pb.Write{Executable: 1, Part: &pb.FilePart{}}, nil)
	if err == nil || !strings.Contains(err.Error(), "names a file of this one") {
		t.Error(err)
	}
}

// TestApartConnections checks that a connection can open only one device, and that a server that leaves opens
// no more devices.
func TestApartConnections(t *testing.T) {
	a, c := served(t)
	for _, want := range []string{"", "has opened a device already"} {
		out, err := c.Open(t.Context(), &pb.OpenRequest{Id: "0"})
		text := out.GetError().GetMessage()
		if err != nil || !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%v, %v, want %q", out, err, want)
		}
	}
	a.calls.leaving.Store(true)
	if out, err := c.Open(t.Context(), &pb.OpenRequest{Id: "0"}); err != nil ||
		!strings.Contains(out.GetError().GetMessage(), "is being stopped") {
		t.Errorf("%v, %v from a server that leaves", out, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	a.Leave(ctx)
	if _, err := c.Describe(t.Context(), &pb.DescribeRequest{}); err == nil {
		t.Error("the server answers after it has left")
	}
}

// TestWaitsOfSeveralGoroutines waits for each exchange in a separate goroutine, while others begin, as for a
// device in another process. Each exchange must get its sum.
func TestWaitsOfSeveralGoroutines(t *testing.T) {
	const n = 50
	conn := &echoing{answers: make(chan *pb.Message, n)}
	s := newSession(t.Context(), nil, conn, &calls{})
	s.concurrent = true
	var all sync.WaitGroup
	for i := range n {
		values := sum()
		tag := collective.Tag{Lane: collective.Gradients, Sequence: uint64(i)}
		wait := s.exchanger.Start(t.Context(), tag, values)
		all.Go(func() {
			if err := wait(); err != nil || values[0].Result.F32()[0] != float32(i) {
				t.Errorf("exchange %d: %v, %v", i, values[0].Result.F32(), err)
			}
		})
	}
	all.Wait()
}

// TestGradientsAreSentLater checks that the moments of a run do not wait for gradients that are being sent,
// and that at most maxPending exchanges of gradients have no answer.
func TestGradientsAreSentLater(t *testing.T) {
	const n = 20
	conn := &laned{answers: make(chan *pb.Message, n+1), hold: make(chan struct{})}
	s := newSession(t.Context(), nil, conn, &calls{})
	s.concurrent, s.turns = true, true
	var all sync.WaitGroup
	for i := range n {
		tag := collective.Tag{Lane: collective.Gradients, Sequence: uint64(i)}
		wait := s.exchanger.Start(t.Context(), tag, sum())
		all.Go(func() {
			if err := wait(); err != nil {
				t.Errorf("gradients %d: %v", i, err)
			}
		})
	}
	if err := s.exchanger.Start(t.Context(), collective.Tag{}, sum())(); err != nil {
		t.Fatal(err)
	}
	close(conn.hold)
	all.Wait()
	s.exchanger.drain()
	if conn.most.Load() > maxPending || conn.order != n {
		t.Errorf("%d exchanges without an answer, want at most %d; %d of %d in order", conn.most.Load(), maxPending,
			conn.order, n)
	}
}

// TestGradientsOfABrokenConnection checks that all exchanges of gradients end if the connection fails.
func TestGradientsOfABrokenConnection(t *testing.T) {
	conn := &laned{answers: make(chan *pb.Message, 1), hold: make(chan struct{}), fails: true}
	close(conn.hold)
	s := newSession(t.Context(), nil, conn, &calls{})
	s.concurrent, s.turns = true, true
	var waits []func() error
	for i := range 9 {
		waits = append(waits, s.exchanger.Start(t.Context(),
			collective.Tag{Lane: collective.Gradients, Sequence: uint64(i)}, sum()))
	}
	for i, wait := range waits {
		if err := wait(); (i > 0) != errors.Is(err, errGone) {
			t.Errorf("exchange %d: %v", i, err)
		}
	}
	s.exchanger.drain()
}

// laned is a connection to a host that answers each exchange. It holds the gradients back until hold is
// closed. If fails is true, the connection fails after the first exchange.
type laned struct {
	answers chan *pb.Message
	hold    chan struct{}
	pending atomic.Int64
	most    atomic.Int64
	order   int // number of exchanges of gradients that came in their order
	fails   bool
}

func (l *laned) Send(m *pb.Message, _ []tensor.Tensor) error {
	x := m.GetExchange()
	if m.Lane == pb.Lane_LANE_GRADIENTS {
		<-l.hold
		if l.fails && l.order == 1 {
			close(l.answers)
			return errGone
		}
		if x.Tag.Sequence == uint64(l.order) {
			l.order++
		}
		l.most.Store(max(l.most.Load(), l.pending.Add(1)))
	}
	l.answers <- &pb.Message{Body: &pb.Message_Reduced{
		Reduced: &pb.Reduced{Lane: x.Tag.Lane, Sequence: x.Tag.Sequence}}}
	return nil
}

func (l *laned) Recv(allocate wire.Allocator) (*pb.Message, []tensor.Tensor, error) {
	m, ok := <-l.answers
	if !ok {
		return nil, nil, errGone
	}
	if m.GetReduced().Lane == pb.Lane_LANE_GRADIENTS {
		l.pending.Add(-1)
	}
	out, err := allocate(m, []tensor.Tensor{{DType: tensor.F32, Shape: []int{1}}})
	return m, out, err
}

func (*laned) Close() error { return nil }

// echoing is a connection to a host that answers each exchange with the sequence number of the exchange.
type echoing struct {
	answers chan *pb.Message
	sending sync.Mutex
	reading sync.Mutex
}

func (e *echoing) Send(m *pb.Message, _ []tensor.Tensor) error {
	if !e.sending.TryLock() {
		panic("two goroutines send")
	}
	defer e.sending.Unlock()
	x := m.GetExchange()
	e.answers <- &pb.Message{Body: &pb.Message_Reduced{
		Reduced: &pb.Reduced{Lane: x.Tag.Lane, Sequence: x.Tag.Sequence}}}
	return nil
}

func (e *echoing) Recv(allocate wire.Allocator) (*pb.Message, []tensor.Tensor, error) {
	if !e.reading.TryLock() {
		panic("two goroutines receive")
	}
	defer e.reading.Unlock()
	m := <-e.answers
	out, err := allocate(m, []tensor.Tensor{{DType: tensor.F32, Shape: []int{1}}})
	if err == nil && len(out) == 1 {
		out[0].F32()[0] = float32(m.GetReduced().Sequence)
	}
	return m, out, err
}

func (*echoing) Close() error { return nil }
