package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// everyTensor commits twelve steps of the small network. After each commit every tensor that the
// network updates must have changed, since all updates are nonzero. After each of the first three
// commits every tensor must be close to ref's tensor.
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
		if precisionOf(ctx) == device.F32 && v < 3 { // later the rounding errors have grown
			if err := equal(after, right, trainingTolerance, names); err != nil {
				return fmt.Errorf("after the commit of version %d: %w", v, err)
			}
		}
	}
	return nil
}
