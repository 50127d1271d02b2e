package devicetest

import (
	"context"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

func limitCases() []Case {
	return []Case{
		contractCase("load: more than there is",
			"OutOfMemory says how much is needed and how much is there.", tooMuch),
		contractCase("close: one executable", "Close frees the executable.", closeOne),
		contractCase("run: labels that are no classes", "Bad input never panics.", wildLabels),
	}
}

// tooMuch requests a capacity of 2^45 rows. A device may accept it or refuse it.
func tooMuch(ctx context.Context, m *member, s *setting) error {
	huge := device.Capacity{Rows: 1 << 45, Replicas: 8}
	_, loading := m.Load(ctx, s.program, huge)
	growing := m.x.Grow(ctx, huge)
	for i, err := range []error{loading, growing} {
		if err == nil {
			continue
		}
		if err := wantKind(err, device.OutOfMemory); err != nil {
			return fmt.Errorf("%s for %d rows: %w", []string{"Load", "Grow"}[i], huge.Rows, err)
		}
	}
	_, err := s.run(ctx, m.x)
	return err
}

func closeOne(ctx context.Context, m *member, s *setting) error {
	if err := m.x.Close(); err != nil {
		return err
	}
	if _, err := m.x.Run(ctx, s.step(0)); err == nil {
		return fmt.Errorf("Run of a closed executable: no error")
	}
	x, err := s.load(ctx, m)
	if err != nil {
		return fmt.Errorf("loading another: %w", err)
	}
	_, err = s.run(ctx, x)
	return err
}

// wildLabels runs a step with labels that are not classes. The device may refuse the step or
// return anything, but it must continue to work.
func wildLabels(ctx context.Context, m *member, s *setting) error {
	for _, label := range []int32{4, -2, math.MaxInt32, math.MinInt32} {
		wild := *s
		wild.inputs = append([]tensor.Tensor{}, s.inputs...)
		wild.inputs[1] = s.inputs[1].Clone()
		wild.inputs[1].I32()[1] = label
		if _, err := wild.run(ctx, m.x); err != nil {
			if err := wantKind(err, device.Invalid); err != nil {
				return fmt.Errorf("label %d of 4 classes: %w", label, err)
			}
		}
		if _, err := s.run(ctx, m.x); err != nil {
			return fmt.Errorf("after label %d of 4 classes: %w", label, err)
		}
	}
	return nil
}
