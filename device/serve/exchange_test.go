package serve

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// answering is a connection to a host that sends a list of answers, each with a number as
// the result. After the last answer the connection fails.
type answering struct {
	answers []*pb.Reduced
	numbers []float32
	sent    int
}

func (a *answering) Send(*pb.Message, []tensor.Tensor) error {
	a.sent++
	return nil
}

func (a *answering) Recv(place wire.Allocator) (*pb.Message, []tensor.Tensor, error) {
	if len(a.answers) == 0 {
		return nil, nil, errGone
	}
	m := &pb.Message{Body: &pb.Message_Reduced{Reduced: a.answers[0]}}
	out, err := place(m, []tensor.Tensor{{DType: tensor.F32, Shape: []int{1}}})
	if err == nil && len(out) == 1 {
		out[0].F32()[0] = a.numbers[0]
	}
	a.answers, a.numbers = a.answers[1:], a.numbers[1:]
	return m, out, err
}

func (*answering) Close() error { return nil }

var errGone = errors.New("the host is gone")

func sum() []collective.Reduction {
	return []collective.Reduction{{Op: collective.Sum, Result: tensor.New(tensor.F32, 1)}}
}

// TestAnswersInAnyOrder checks that each exchange gets its sum, in whatever order the device waits for them.
func TestAnswersInAnyOrder(t *testing.T) {
	conn := &answering{numbers: []float32{3, 1, 2}, answers: []*pb.Reduced{
		{Lane: pb.Lane_LANE_MOMENTS}, {Lane: pb.Lane_LANE_GRADIENTS}, {Lane: pb.Lane_LANE_GRADIENTS, Sequence: 1}}}
	s := newSession(t.Context(), nil, conn, &calls{})
	s.concurrent = true
	var got []float32
	var waits []func() error
	tags := []collective.Tag{{Lane: collective.Gradients}, {Lane: collective.Gradients, Sequence: 1},
		{Lane: collective.Moments}}
	var sums [][]collective.Reduction
	for i, tag := range tags {
		sums = append(sums, sum())
		waits = append(waits, s.exchanger.Start(t.Context(), tag, sums[i]))
	}
	if conn.sent != 3 {
		t.Errorf("%d exchanges were sent before any was answered, want 3", conn.sent)
	}
	for i := range slices.Backward(waits) {
		if err := waits[i](); err != nil {
			t.Error(err)
		}
	}
	for _, v := range sums {
		got = append(got, v[0].Result.F32()[0])
	}
	if want := []float32{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("sums %v, want %v", got, want)
	}
}

// TestOneExchangeAtATime checks that a host gets one exchange at a time unless it has announced
// support for more, and that its answers need no lane and sequence.
func TestOneExchangeAtATime(t *testing.T) {
	conn := &answering{numbers: []float32{7}, answers: []*pb.Reduced{{}}}
	s := newSession(t.Context(), nil, conn, &calls{})
	v := sum()
	wait := s.exchanger.Start(t.Context(), collective.Tag{Lane: collective.Gradients, Sequence: 5}, v)
	if got := v[0].Result.F32()[0]; got != 7 {
		t.Errorf("sum %v when Start returns, want 7", got)
	}
	if err := wait(); err != nil {
		t.Error(err)
	}
	if err := s.exchanger.Start(t.Context(), collective.Tag{}, sum())(); !errors.Is(err, errGone) {
		t.Errorf("%v from a host that is gone", err)
	}
}

// TestAnswerToNothing checks that an answer that belongs to no exchange is an error.
func TestAnswerToNothing(t *testing.T) {
	conn := &answering{numbers: []float32{7}, answers: []*pb.Reduced{{Sequence: 9}}}
	s := newSession(t.Context(), nil, conn, &calls{})
	s.concurrent = true
	err := s.exchanger.Start(t.Context(), collective.Tag{}, sum())()
	if err == nil || !strings.Contains(err.Error(), "answers none of 1 exchanges") {
		t.Error(err)
	}
}
