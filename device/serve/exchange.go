package serve

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// join makes the device a member of a group, which meets in shared memory or,
// at every other level, at the host.
func (s *session) join(ctx context.Context, in *pb.Join) error {
	g := wire.DecodeGroup(in)
	g.Exchange = exchanger{s}
	var member *shm.Member
	if g.Level == device.CollShm && g.Check() == nil {
		if !g.Whole() { // the host is to be in the middle
			return device.Errorf("", "", device.Unavailable, "level %s: the members hold a part of the tree of "+
				"%d leaves, and meet nobody else in shared memory", g.Level, g.Leaves())
		}
		var err error
		if member, err = shm.Join(string(g.Rendezvous), g.Generation, g.Rank, g.Replicas); err != nil {
			return device.Errorf("", "", device.Unavailable, "level %s: %w", g.Level, err)
		}
		g.Exchange = member
	}
	if err := s.device.Join(ctx, g); err != nil {
		leave(member)
		return err
	}
	leave(s.member)
	s.member = member
	return nil
}

// leave unmaps the memory of a group that this process is no member of any more.
func leave(m *shm.Member) {
	if m != nil {
		_ = m.Close() // what can fail is giving memory back
	}
}

// exchanger meets the other members of a group at the host: it sends the parts
// and takes the results in the middle of a run, on the session's connection,
// which nobody else uses meanwhile.
type exchanger struct{ session *session }

// Start makes the whole exchange: the connection has one order.
func (x exchanger) Start(_ context.Context, tag collective.Tag, values []collective.Reduction) func() error {
	err := x.exchange(tag, values)
	return func() error { return err }
}

// exchange waits for the host's answer, which comes in any case: when the
// call is cancelled and when the group is aborted too, as an error.
func (x exchanger) exchange(tag collective.Tag, values []collective.Reduction) error {
	s := x.session
	e, parts := wire.EncodeExchange(tag, values)
	m := &pb.Message{Call: s.calls.current(), Body: &pb.Message_Exchange{Exchange: e}}
	if err := s.conn.Send(m, parts); err != nil {
		return err
	}
	into := func(m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error) {
		if len(heads) == 0 {
			return nil, nil
		}
		return wire.Results(values), nil
	}
	m, results, err := s.conn.Recv(into)
	if err != nil {
		return err
	}
	r := m.GetReduced()
	switch {
	case r == nil:
		return fmt.Errorf("exchange %s: the host answers with %s", tag.Name, wire.Body(m))
	case r.Error != nil:
		return wire.DecodeError("", "exchange "+tag.Name, r.Error)
	case len(results) != len(values):
		return fmt.Errorf("exchange %s: %d results for %d values", tag.Name, len(results), len(values))
	}
	return nil
}
