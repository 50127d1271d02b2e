package remote

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// hasty is the connection to a plugin that sends an exchange and an outcome. If waits is true, it
// sends the outcome after the answer to the exchange, otherwise before the answer.
type hasty struct {
	exchange *pb.Exchange
	parts    []tensor.Tensor
	waits    bool
	came     int           // number of messages received by the host so far
	answered chan struct{} // closed when the host has answered the exchange
	closed   bool
}

func (h *hasty) Recv(place wire.Allocator) (*pb.Message, []tensor.Tensor, error) {
	if h.came++; h.came == 1 {
		m := &pb.Message{Call: 1, Body: &pb.Message_Exchange{Exchange: h.exchange}}
		heads := []tensor.Tensor{{DType: h.parts[0].DType, Shape: h.parts[0].Shape}}
		to, err := place(m, heads)
		if err == nil {
			copy(to[0].Bytes, h.parts[0].Bytes)
		}
		return m, to, err
	}
	if h.waits {
		<-h.answered
	}
	m := &pb.Message{Call: 1, Body: &pb.Message_Outcome{Outcome: &pb.Outcome{}}}
	_, err := place(m, nil)
	return m, nil, err
}

func (h *hasty) Send(m *pb.Message, _ []tensor.Tensor) error {
	if m.GetReduced() != nil {
		close(h.answered)
	}
	return nil
}

func (h *hasty) Close() error {
	h.closed = true
	return nil
}

// oneSum returns a function with one exchange of lane Gradients: the sum of one number, named x.
func oneSum(t *testing.T) *graph.Function {
	b := graph.NewBuilder(graph.Train, &[]graph.State{})
	rows := b.Input("rows", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{1}})
	x := b.Op(graph.ChannelSum, "x", []graph.Value{rows})
	b.Output("sum", b.Op(graph.AllReduce, "sum", []graph.Value{x}), true)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestOutcomeBeforeItsExchanges checks that an outcome is refused while exchanges of its
// run are unanswered. The error ends the connection without waiting for the other members.
func TestOutcomeBeforeItsExchanges(t *testing.T) {
	tag := collective.Tag{Generation: 1, Lane: collective.Gradients, Name: "x"}
	one := func(rank int) []collective.Reduction {
		part := collective.Partial{Node: collective.Node{From: rank, To: rank + 1},
			Value: tensor.Of([]float32{1}, 1)}
		return []collective.Reduction{{Op: collective.Sum, Partials: []collective.Partial{part},
			Result: tensor.New(tensor.F32, 1)}}
	}
	for _, waits := range []bool{true, false} {
		hub := collective.NewHub(2, 2)
		h := &hasty{waits: waits, answered: make(chan struct{})}
		h.exchange, h.parts = wire.EncodeExchange(tag, one(0))
		s := &session{conn: h, group: device.Group{Generation: 1, Replicas: [][]int{{0}, {1}},
			Exchange: hub.Member(0)}}
		c := &call{body: &pb.Message{Call: 1}, limits: limitsOf(oneSum(t))}
		c.progress = c.limits.schedule.Begin(0)
		if waits {
			go hub.Member(1).Start(t.Context(), tag, one(1))()
		}
		_, _, err := s.receive(t.Context(), c)
		if waits && (err != nil || h.closed) {
			t.Errorf("after the answer: %v, closed %v", err, h.closed)
		}
		const want = "Outcome comes while 1 exchanges"
		if !waits && (err == nil || !strings.Contains(err.Error(), want) || !h.closed) {
			t.Errorf("before the answer: %v, closed %v", err, h.closed)
		}
	}
}

// TestPartOfNoRows checks that the host refuses a partial value for replicas that have no rows in the
// run.
func TestPartOfNoRows(t *testing.T) {
	hub := collective.NewHub(2, 2)
	h := &hasty{answered: make(chan struct{})}
	part := collective.Partial{Node: collective.Node{From: 0, To: 1}, Value: tensor.Of([]float32{1}, 1)}
	tag := collective.Tag{Generation: 1, Lane: collective.Gradients, Name: "x"}
	h.exchange, h.parts = wire.EncodeExchange(tag, []collective.Reduction{{Op: collective.Sum,
		Partials: []collective.Partial{part}, Result: tensor.New(tensor.F32, 1)}})
	g := device.Group{Generation: 1, Replicas: [][]int{{0}, {1}}, Exchange: hub.Member(0)}
	s := &session{conn: h, group: g}
	c := &call{body: &pb.Message{Call: 1}, limits: limitsOf(oneSum(t)), rows: []int{0}}
	c.progress = c.limits.schedule.Begin(0)
	_, _, err := s.receive(t.Context(), c)
	const want = `exchange "x": value 0: the part of replicas 0 to 0 is there; due is an absent part`
	if err == nil || !strings.HasPrefix(err.Error(), want) || !h.closed {
		t.Errorf("%v, closed %v; want %q", err, h.closed, want)
	}
}
