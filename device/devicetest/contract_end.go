package devicetest

import (
	"context"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// promptly is the time limit for a waiting device to notice the end of its group or context.
// It needs microseconds, but a busy machine may need longer.
const promptly = 2 * time.Second

func endCases() []Case {
	return []Case{
		contractCase("close: twice", "Closing twice is legal.", closeTwice),
		contractCase("close: and then", "Close frees the device and all executables.", afterClose),
		contractCase("context: ended before", "Canceled: the context ended.", canceledBefore),
		waitingCase("context: ends in an exchange", "An exchange blocks until every member has come, or ctx ends.",
			device.Canceled, func(w *waiting) { w.cancel() }),
		waitingCase("group: abort ends a run", "Aborted: the group ended while the device was in a run.",
			device.Aborted, func(w *waiting) { w.abort(fmt.Errorf("another device was lost")) }),
		waitingCase("close: in a run", "Close may be called at any time and ends a call that is under way.",
			device.Other, func(w *waiting) { w.Close() }),
	}
}

func closeTwice(ctx context.Context, m *member, s *setting) error {
	for i, close := range []func() error{m.x.Close, m.x.Close, m.Close, m.Close, m.x.Close} {
		if err := close(); err != nil {
			return fmt.Errorf("call %d of executable, executable, device, device, executable: %w", i, err)
		}
	}
	return nil
}

func afterClose(ctx context.Context, m *member, s *setting) error {
	if err := m.Close(); err != nil {
		return err
	}
	for _, a := range []attempt{
		{"Load", 0, func() error { _, err := m.Load(ctx, s.program, capacity); return err }},
		{"Run", 0, func() error { _, err := m.x.Run(ctx, s.step(0)); return err }},
		{"Read", 0, func() error { _, err := m.x.Read(ctx, "bn.gamma"); return err }},
		{"Write", 0, func() error { return m.x.Write(ctx, "bn.gamma", s.state["bn.gamma"]) }},
		{"Commit", 0, func() error { return m.x.Commit(ctx, 0, rate) }},
	} {
		if a.do() == nil {
			return fmt.Errorf("%s of a closed device: no error", a.name)
		}
	}
	return nil
}

func canceledBefore(ctx context.Context, m *member, s *setting) error {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	return allFail([]attempt{
		{"Load", device.Canceled, func() error { _, err := m.Load(ended, s.program, capacity); return err }},
		{"Run", device.Canceled, func() error { _, err := m.x.Run(ended, s.step(0)); return err }},
	})
}

// waiting is a device that waits in an exchange for a member that never arrives.
type waiting struct {
	*member
	*testGroup
	cancel context.CancelFunc
}

// Close closes the device.
func (w *waiting) Close() { w.member.Close() }

// waitingCase returns a case that calls end while the device waits in a run. The run must end
// with an error of the given kind. Afterwards the device must work in another group. If the kind
// is Other, the error may have any kind, and the device is not used afterwards.
func waitingCase(name, rule string, kind device.Kind, end func(*waiting)) Case {
	n := small("batch")
	return newCase(name, rule, n.program, func(ctx context.Context, open Opener) error {
		s, err := n.setting(graph.Train, 3, 2)
		if err != nil {
			return err
		}
		p, err := openGroup(ctx, open, s, []int{0}, []int{1})
		if err != nil {
			return err
		}
		defer p.close()
		w := &waiting{member: p.members[0], testGroup: p}
		if err := w.checkEnd(ctx, s.ofReplicas(0), kind, end); err != nil || kind == device.Other {
			return err
		}
		if err := w.Join(ctx, device.Group{Generation: 2, Replicas: [][]int{{0, 1}}}); err != nil {
			return fmt.Errorf("joining another group: %w", err)
		}
		_, err = s.run(ctx, w.x)
		return err
	})
}

// checkEnd starts a run, waits until the run is in an exchange, and calls end.
func (w *waiting) checkEnd(ctx context.Context, s *setting, kind device.Kind, end func(*waiting)) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	w.cancel = cancel
	result := make(chan error, 1)
	go func() { _, err := w.x.Run(inner, s.step(0)); result <- err }()
	came := make(chan struct{})
	go func() { w.wait(inner); close(came) }()
	select {
	case err := <-result:
		return fmt.Errorf("the run came back without an exchange: %v", err)
	case <-came:
	}
	began := time.Now()
	end(w)
	if took := time.Since(began); took > promptly {
		return fmt.Errorf("what ends the run came back after %v", took)
	}
	select {
	case err := <-result:
		if kind == device.Other && err != nil {
			return nil
		}
		return wantKind(err, kind)
	case <-time.After(promptly):
		return fmt.Errorf("the run went on for %v", promptly)
	}
}
