package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// session makes the calls that the host requests, one at a time.
type session struct {
	ctx         context.Context // ends with the stream
	device      device.Device
	conn        wire.Conn
	calls       *calls
	executables map[uint32]device.Executable
	schedules   map[uint32]map[string]*wire.Schedule // schedules of each executable, by function
	last        uint32                               // number of the last executable loaded
	arena       wire.Arena
	member      *shm.Member // member of the current group at level coll.shm/1; nil at other levels
	exchanger   exchanger   // exchanger of groups that exchange through the host
	scheduled   scheduled   // exchanger that the device uses
	concurrent  bool        // the host accepts several exchanges at a time
	turns       bool        // the host accepts messages of two lanes in turns
	apart       bool        // the host is on another machine
	meetings    *meetings   // meetings on this machine, if the host is on another one
	together    *meeting    // meeting of the current group at level machine/1; nil at other levels
	maxBytes    int64       // limit of the tensors of a message from the host
}

func newSession(ctx context.Context, d device.Device, c wire.Conn, k *calls) *session {
	s := &session{ctx: ctx, device: d, conn: c, calls: k, executables: map[uint32]device.Executable{},
		schedules: map[uint32]map[string]*wire.Schedule{}, maxBytes: maxPayload}
	s.exchanger.session = s
	return s
}

// serve returns nil when the host has ended the session.
func (s *session) serve() error {
	defer func() {
		leave(s.member)
		s.together.leave()
	}()
	garbage := newGarbage()
	for {
		m, in, err := s.conn.Recv(s.allocate)
		if ended(err) || s.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		ctx, end := s.calls.begin(s.ctx, m.Call)
		reply, out := s.answer(ctx, m, in)
		reply.Call = m.Call
		err = s.conn.Send(reply, out)
		if end(); err != nil || s.calls.over() {
			return err
		}
		if x, ok := s.executables[m.GetRun().GetExecutable()].(device.Reuser); ok && len(out) > 0 {
			x.Reuse(out)
		}
		if m.GetWrite() != nil && s.arena.Trim(muchMemory) { // free the second copy of the state
			debug.FreeOSMemory()
		} else if !m.GetRun().GetLast() { // after the last run the host waits for the process to end
			garbage.collect(m.GetLoad() != nil || m.GetGrow() != nil || m.GetWrite() != nil)
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, shm.Closed) }

// maxPayload bounds the tensors of one message from a host of this machine.
const maxPayload = 1 << 38

func (s *session) allocate(m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error) {
	if n := wire.Bytes(heads); n > s.maxBytes {
		return nil, fmt.Errorf("%s with %d bytes of tensors, want at most %d", wire.Body(m), n, s.maxBytes)
	}
	return s.arena.Allocate(heads), nil
}

// answer makes one call. in is only valid during the call.
func (s *session) answer(ctx context.Context, m *pb.Message, in []tensor.Tensor) (
	*pb.Message, []tensor.Tensor) {
	switch b := m.Body.(type) {
	case *pb.Message_Load:
		return loaded(s.load(ctx, b.Load, in)), nil
	case *pb.Message_Grow:
		return loaded(s.grow(ctx, b.Grow)), nil
	case *pb.Message_Unload:
		return done(s.unload(b.Unload)), nil
	case *pb.Message_Join:
		return done(s.join(ctx, b.Join)), nil
	case *pb.Message_Write:
		return done(s.write(ctx, b.Write, in)), nil
	case *pb.Message_Read:
		return s.read(ctx, b.Read)
	case *pb.Message_Run:
		return s.run(ctx, b.Run, in)
	case *pb.Message_Commit:
		return done(s.commit(ctx, b.Commit)), nil
	}
	return done(device.Errorf("", "", device.Invalid, "%s is no call", wire.Body(m))), nil
}

func loaded(l *pb.Loaded, err error) *pb.Message {
	if err != nil {
		l = &pb.Loaded{Error: wire.EncodeError(err)}
	}
	return &pb.Message{Body: &pb.Message_Loaded{Loaded: l}}
}

func done(err error) *pb.Message {
	return &pb.Message{Body: &pb.Message_Done{Done: &pb.Done{Error: wire.EncodeError(err)}}}
}

// executable returns the executable with this number.
func (s *session) executable(n uint32) (device.Executable, error) {
	if e := s.executables[n]; e != nil {
		return e, nil
	}
	return nil, device.Errorf("", "", device.Invalid, "there is no executable %d", n)
}
