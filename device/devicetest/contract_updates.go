package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// everyTensor commits a dozen steps and looks each time at all tensors that the small network
// updates: no tensor is as it was, and after the first three each is where ref's is. (No update of it
// is zero.)
func everyTensor(ctx context.Context, m *member, s *setting) error {
	want, err := loaded(ctx, openRef, s)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	defer want.Close()
	names := small("batch").names()
	for v := range device.Version(12) {
		before, err := m.snapshot(ctx)
		if err != nil {
			return err
		}
		for _, x := range []*member{m, want} {
			if _, err := s.run(ctx, x.x); err != nil {
				return err
			}
			if err := x.x.Commit(ctx, v, rate); err != nil {
				return err
			}
		}
		after, err := m.snapshot(ctx)
		if err != nil {
			return err
		}
		right, err := want.snapshot(ctx)
		if err != nil {
			return fmt.Errorf("reference: %w", err)
		}
		for i, name := range names {
			if tensor.Close(after[i], before[i], tensor.Tolerance{}) == nil {
				return fmt.Errorf("%s is as it was before the commit of version %d", name, v)
			}
		}
		if precisionOf(ctx) == device.F32 && v < 3 { // later, differences of sums have grown
			if err := equal(after, right, trainingTolerance, names); err != nil {
				return fmt.Errorf("after the commit of version %d: %w", v, err)
			}
		}
	}
	return nil
}
