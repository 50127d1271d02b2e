package serve

import (
	"context"
	"runtime/debug"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

func (s *session) load(ctx context.Context, in *pb.Load, t []tensor.Tensor) (*pb.Loaded, error) {
	if len(t) != 1 {
		return nil, device.Errorf("", "", device.Invalid, "Load came with %d tensors, want the program", len(t))
	}
	p, err := wire.DecodeProgram(t[0].Bytes)
	switch {
	case err != nil && device.KindOf(err) == device.Other:
		return nil, device.Errorf("", "", device.Invalid, "%w", err)
	case err != nil:
		return nil, err
	}
	e, err := s.device.Load(ctx, p, wire.DecodeCapacity(in.GetCapacity()))
	if err != nil {
		return nil, err
	}
	s.last++
	s.executables[s.last], s.schedules[s.last] = e, schedules(p)
	return needs(s.last, e), nil
}

func needs(n uint32, e device.Executable) *pb.Loaded {
	m := e.Needs()
	return &pb.Loaded{Executable: n, Fixed: m.Fixed, PerRow: m.PerRow}
}

func (s *session) grow(ctx context.Context, in *pb.Grow) (*pb.Loaded, error) {
	e, err := s.executable(in.GetExecutable())
	if err != nil {
		return nil, err
	}
	if err := e.Grow(ctx, wire.DecodeCapacity(in.GetCapacity())); err != nil {
		return nil, err
	}
	return needs(in.GetExecutable(), e), nil
}

// muchMemory is the minimum number of bytes for which a garbage collection is worthwhile.
const muchMemory = 16 << 20

func (s *session) unload(in *pb.Unload) error {
	e := s.executables[in.GetExecutable()]
	if e == nil {
		return nil
	}
	delete(s.executables, in.GetExecutable())
	delete(s.schedules, in.GetExecutable())
	size := e.Needs().Fixed
	err := e.Close()
	if size > muchMemory { // loading the next program checks how much memory is free
		debug.FreeOSMemory()
	}
	return err
}

func (s *session) write(ctx context.Context, in *pb.Write, t []tensor.Tensor) error {
	e, err := s.executable(in.GetExecutable())
	if err != nil {
		return err
	}
	if in.GetPart() != nil {
		if s.apart {
			return device.Errorf("", "", device.Invalid,
				"the host is on another machine, and names a file of this one")
		}
		return writeFilePart(ctx, e, in)
	}
	if len(t) != 1 {
		return device.Errorf("", "", device.Invalid, "%s came with %d tensors, want 1", in.GetState(), len(t))
	}
	return e.Write(ctx, in.GetState(), t[0])
}

// writeFilePart writes a tensor that is part of a file. The device may keep the file open
// after this call.
func writeFilePart(ctx context.Context, e device.Executable, in *pb.Write) error {
	t, file, err := wire.DecodeFilePart(in.GetPart())
	if err != nil {
		return device.Errorf("", "", device.Unavailable, "%w", err)
	}
	defer file.Close()
	return e.Write(ctx, in.GetState(), t)
}

func (s *session) read(ctx context.Context, in *pb.Read) (*pb.Message, []tensor.Tensor) {
	e, err := s.executable(in.GetExecutable())
	if err != nil {
		return done(err), nil
	}
	read := e.Read
	if v, ok := e.(device.Viewer); ok { // the view is sent before the next call, so it is valid
		read = v.View
	}
	t, err := read(ctx, in.GetState())
	if err != nil {
		return done(err), nil
	}
	return done(nil), []tensor.Tensor{t}
}

func (s *session) run(ctx context.Context, in *pb.Run, t []tensor.Tensor) (*pb.Message, []tensor.Tensor) {
	outcome := &pb.Outcome{}
	m := &pb.Message{Body: &pb.Message_Outcome{Outcome: outcome}}
	e, err := s.executable(in.GetExecutable())
	if err != nil {
		outcome.Error = wire.EncodeError(err)
		return m, nil
	}
	s.scheduled.progress = s.schedules[in.GetExecutable()][in.GetFunction()].Begin(in.GetStep())
	rows := wire.Numbers[int](in.GetRows())
	s.scheduled.progress.SetReplicas(s.scheduled.replicas, rows)
	o, err := e.Run(ctx, device.Step{
		Function: in.GetFunction(), Number: in.GetStep(), Rows: rows, Inputs: t,
		Profile: in.GetProfile(), Last: in.GetLast(), Slot: int(in.GetSlot()),
		Replicas: replicasOf(in),
	})
	if err != nil && s.schedules[in.GetExecutable()][in.GetFunction()].Exchanges() {
		s.together.abort(err)
	}
	s.exchanger.drain()
	outcome.Blocked, outcome.Took = int64(o.Blocked), int64(o.Took)
	outcome.Nodes = wire.Numbers[int64](o.Nodes)
	if err != nil {
		outcome.Error = wire.EncodeError(err)
		return m, nil
	}
	return m, o.Outputs
}

func (s *session) commit(ctx context.Context, in *pb.Commit) error {
	e, err := s.executable(in.GetExecutable())
	if err != nil {
		return err
	}
	h := device.Hyper{}
	for _, v := range in.GetHyper() {
		h[v.GetName()] = v.GetValue()
	}
	return e.Commit(ctx, device.Version(in.GetVersion()), h)
}

// replicasOf returns Step.Replicas of a run; nil: all.
func replicasOf(in *pb.Run) []int {
	if len(in.GetReplicas()) == 0 {
		return nil
	}
	return wire.Numbers[int](in.GetReplicas())
}
