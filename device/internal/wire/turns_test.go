package wire

import (
	"runtime"
	"testing"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// hooked is a queue that calls a function before it stores a message of gradients.
type hooked struct {
	queue
	before func()
}

func (h *hooked) SendMsg(m any) error {
	if m.(*pb.Message).Lane == pb.Lane_LANE_GRADIENTS {
		h.before()
	}
	return h.queue.SendMsg(m)
}

// TestTurns sends moments while gradients are being sent: they must follow the chunk in progress, and both
// messages must arrive.
func TestTurns(t *testing.T) {
	gradients, moments := filled(3*gradientChunk+5), filled(2*ChunkBytes+7)
	h := &hooked{}
	c := NewStream(h, func() {}).(*stream)
	sent := make(chan error, 1)
	h.before = func() {
		h.before = func() {}
		go func() {
			m := &pb.Message{Call: 2, Body: &pb.Message_Reduced{Reduced: &pb.Reduced{Sequence: 5}}}
			sent <- c.Send(m, []tensor.Tensor{moments})
		}()
		for waits := false; !waits; runtime.Gosched() {
			c.turns.mu.Lock()
			waits = c.turns.urgent > 0
			c.turns.mu.Unlock()
		}
	}
	m := &pb.Message{Call: 1, Lane: pb.Lane_LANE_GRADIENTS, Body: &pb.Message_Reduced{
		Reduced: &pb.Reduced{Lane: pb.Lane_LANE_GRADIENTS, Sequence: 6}}}
	if err := c.Send(m, []tensor.Tensor{gradients}); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	var order []uint64
	for range 2 {
		m, out, err := c.Recv(anywhere(1 << 30))
		if err != nil {
			t.Fatal(err)
		}
		want := moments
		if m.Lane == pb.Lane_LANE_GRADIENTS {
			want = gradients
		}
		if order = append(order, m.GetReduced().Sequence); len(out) != 1 || !tensor.Equal(out[0], want) {
			t.Errorf("sequence %d arrives with other bytes", m.GetReduced().Sequence)
		}
	}
	if order[0] != 5 || order[1] != 6 {
		t.Errorf("sequences %v arrive, want the moments, 5, first", order)
	}
}
