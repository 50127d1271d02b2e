package serve

import (
	"cmp"
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/problem"
)

// service implements the calls of the host.
type service struct {
	pb.UnimplementedDeviceServer
	provider device.Provider
	apart    bool      // the host is on another machine: only messages are exchanged with it
	maxBytes int64     // limit of the tensors of a message; 0: maxPayload
	meetings *meetings // meetings of all connections, if apart

	mu         sync.Mutex
	device     device.Device // nil before Open and after Close
	opened     bool
	concurrent bool   // the host accepts several exchanges at a time
	turns      bool   // both sides accept messages of two lanes in turns
	shared     shared // memory of level shm/1, from Open to Session
	calls      calls
}

func newService(p device.Provider) *service { return &service{provider: p} }

func (s *service) Describe(context.Context, *pb.DescribeRequest) (*pb.PluginInfo, error) {
	p := s.provider.Describe()
	return &pb.PluginInfo{Name: p.Name, Version: p.Version, About: p.About}, nil
}

func (s *service) List(ctx context.Context, _ *pb.ListRequest) (*pb.Devices, error) {
	list, reason, err := s.provider.List(ctx)
	out := &pb.Devices{Reason: reason, Error: wire.EncodeError(err)}
	for _, i := range list {
		i.Levels = s.levels()
		out.Devices = append(out.Devices, wire.EncodeInfo(i))
	}
	return out, nil
}

func (s *service) Open(ctx context.Context, in *pb.OpenRequest) (*pb.OpenReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		err := device.Errorf("", "", device.Invalid, "%w",
			problem.Advise("start another one", "this process has opened a device already"))
		return &pb.OpenReply{Error: wire.EncodeError(err)}, nil
	}
	d, err := s.provider.Open(ctx, in.GetId(), device.Options{
		Threads: int(in.GetThreads()), Kernels: in.GetKernels(), Precision: in.GetPrecision(),
	})
	if err != nil {
		return &pb.OpenReply{Error: wire.EncodeError(err)}, nil
	}
	s.device, s.opened, s.concurrent = d, true, in.GetBeside()
	out := &pb.OpenReply{Level: device.Stream, Parts: !s.apart, Ahead: true}
	if in.GetSegment() != nil && !s.apart {
		if s.shared, err = newShared(in.GetSegment()); err != nil {
			out.Note = err.Error()
		} else {
			out.Level, out.Rings = device.Shm, s.shared.bell != nil
		}
	}
	out.Turns = out.Level == device.Stream
	s.turns = out.Turns && in.GetTurns()
	info := d.Info()
	info.Levels = s.levels()
	out.Info = wire.EncodeInfo(info)
	return out, nil
}

// levels returns the levels that sessions and groups of this process support.
func (s *service) levels() []string {
	if s.apart {
		return []string{device.OnMachine, device.Stream}
	}
	return []string{device.CollShm, device.Shm, device.Stream}
}

// Session serves the open device until the host ends the stream.
func (s *service) Session(stream grpc.BidiStreamingServer[pb.Message, pb.Message]) error {
	s.mu.Lock()
	d, memory, concurrent, turns := s.device, s.shared, s.concurrent, s.turns
	s.shared = shared{}
	s.mu.Unlock()
	if d == nil {
		return status.Error(codes.FailedPrecondition, "no device is open")
	}
	conn, err := connect(stream, memory)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	defer conn.Close()
	session := newSession(stream.Context(), d, conn, &s.calls)
	session.meetings, session.turns = s.meetings, turns && concurrent
	session.concurrent, session.apart, session.maxBytes = concurrent, s.apart, cmp.Or(s.maxBytes, maxPayload)
	err = session.serve()
	s.close()
	return err
}

// connect returns the connection of a session. This is the stream, or a connection
// through shared memory that ends when the stream ends.
func connect(stream grpc.BidiStreamingServer[pb.Message, pb.Message], memory shared) (wire.Conn, error) {
	if memory.segment == nil {
		return wire.NewStream(stream, func() {}), nil
	}
	guest, err := shm.Guest(memory.segment, memory.bell)
	if err != nil {
		return nil, err
	}
	go func() { // the host sends no messages on the stream, so Recv returns when the stream ends
		_, _ = stream.Recv()
		guest.Close()
	}()
	return wire.NewPipe(guest), nil
}

func (s *service) Cancel(_ context.Context, in *pb.CancelRequest) (*pb.CancelReply, error) {
	s.calls.cancel(in.GetCall())
	return &pb.CancelReply{}, nil
}

func (s *service) Close(context.Context, *pb.CloseRequest) (*pb.CloseReply, error) {
	return &pb.CloseReply{Error: wire.EncodeError(s.close())}, nil
}

// close frees the device, once.
func (s *service) close() error {
	s.mu.Lock()
	d := s.device
	s.device = nil
	s.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.Close()
}
