package fabrictest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/fabrictest"
	"github.com/bnctl/bnctl/internal/inprocess"
)

// sick is a fabric with a fault.
type sick struct {
	fabric.Fabric
	mu    sync.Mutex
	held  []byte
	fault string
}

func (s *sick) Size() int {
	if s.fault == "size" {
		return 1 + s.Fabric.Size()
	}
	return s.Fabric.Size()
}

func (s *sick) Send(ctx context.Context, to int, lane collective.Lane, pieces ...[]byte) error {
	m := slices.Concat(pieces...)
	switch {
	case s.fault == "one piece" && len(pieces) > 1:
		m = pieces[1]
	case s.fault == "sends to nobody" && (to < 0 || to >= s.Fabric.Size() || to == s.Rank()):
		return nil
	case s.fault == "loses empty messages" && len(m) == 0:
		return nil
	case s.fault == "one lane" && lane < collective.Lanes:
		lane = collective.Moments
	case s.fault == "cuts" && len(m) > 1<<20:
		m = m[:1<<20]
	case s.fault == "one behind":
		s.mu.Lock()
		defer s.mu.Unlock()
		m, s.held = s.held, append([]byte(nil), m...)
	}
	return s.Fabric.Send(ctx, to, lane, m)
}

func (s *sick) Receive(ctx context.Context, from int, lane collective.Lane) ([]byte, error) {
	if s.fault == "one lane" {
		lane = collective.Moments
	}
	if s.fault == "loses what nobody waits for" {
		lost, stop := context.WithCancel(ctx)
		defer stop()
		m, err := s.Fabric.Receive(lost, from, lane)
		if err == nil && ctx.Err() == nil && len(m) == 4 {
			return s.Fabric.Receive(ctx, from, lane)
		}
		return m, err
	}
	m, err := s.Fabric.Receive(ctx, from, lane)
	switch {
	case s.fault == "anywhere" && err == nil:
		m = append([]byte{0}, m...)[1:]
	case s.fault == "one memory" && err == nil:
		if s.held == nil {
			s.held = make([]byte, 0, 4<<20)
		}
		m = append(s.held[:0], m...)
	}
	if s.fault == "no kind" && errors.Is(err, fabric.Ended) {
		return nil, errors.New("it broke")
	}
	return m, err
}

func (s *sick) Abort(cause string) {
	if s.fault != "goes on" {
		s.Fabric.Abort(cause)
	}
}

// TestTheJudgeFindsFaults: for each fault, at least the case about it fails.
func TestTheJudgeFindsFaults(t *testing.T) {
	for fault, name := range map[string]string{"size": "ranks", "sends to nobody": "nobody", "one lane": "lanes",
		"loses empty messages": "order", "cuts": "both send first", "one behind": "the buffer",
		"loses what nobody waits for": "a context that ends", "no kind": "close", "goes on": "abort",
		"one piece": "pieces", "anywhere": "memory", "one memory": "memory"} {
		open := func(_ context.Context, size int) ([]fabric.Fabric, error) {
			var all []fabric.Fabric
			for _, r := range inprocess.New(size) {
				all = append(all, &sick{Fabric: r, fault: fault})
			}
			return all, nil
		}
		ctx, stop := context.WithTimeout(t.Context(), fabrictest.Patience/120)
		for _, c := range fabrictest.Cases() {
			if c.Name == name && c.Run(ctx, open) == nil {
				t.Errorf("a fabric that is sick (%s) passes %q", fault, name)
			}
		}
		stop()
	}
}
