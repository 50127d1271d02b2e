package serve

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

func (s *session) join(ctx context.Context, in *pb.Join) error {
	g := wire.DecodeGroup(in)
	g.Exchange = exchanger{s}
	return s.device.Join(ctx, g)
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
