package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// someRows is the number of rows that the replicas of a contract's step have.
var someRows = []int{3, 0, 2}

// rate has the hyper-parameters of the small network's commits.
var rate = momentumRule.values

// contractCase returns a case about a device on which a training step of the small network is loaded. Its
// batch norm is over the whole batch.
func contractCase(name, rule string, run func(ctx context.Context, m *member, s *setting) error) Case {
	n := small("batch")
	return newCase(name, rule, n.program, func(ctx context.Context, open Opener) error {
		s, err := n.setting(graph.Train, someRows...)
		if err != nil {
			return err
		}
		m, err := loaded(ctx, open, s)
		if err != nil {
			return err
		}
		defer m.Close()
		return run(ctx, m, s)
	})
}

// loaded opens a device and loads the program of a setting.
func loaded(ctx context.Context, open Opener, s *setting) (*member, error) {
	d, err := open.device(ctx)
	if err != nil {
		return nil, err
	}
	x, err := s.load(ctx, d)
	if err != nil {
		d.Close()
		return nil, err
	}
	return &member{d, x}, nil
}

// snapshot reads all state.
func (m *member) snapshot(ctx context.Context) ([]tensor.Tensor, error) {
	return read(ctx, m.x, small("batch").names())
}

// unchanged checks that all state is as it was.
func (m *member) unchanged(ctx context.Context, before []tensor.Tensor) error {
	after, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	return equal(after, before, tensor.Tolerance{}, small("batch").names())
}

// changed checks that some state is not as it was.
func (m *member) changed(ctx context.Context, before []tensor.Tensor) error {
	if m.unchanged(ctx, before) == nil {
		return fmt.Errorf("no state tensor changed")
	}
	return ctx.Err()
}

// attempt is a call that must fail.
type attempt struct {
	name string
	kind device.Kind
	do   func() error
}

// allFail checks that every attempt fails with the right kind.
func allFail(attempts []attempt) error {
	for _, a := range attempts {
		if err := wantKind(a.do(), a.kind); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}
