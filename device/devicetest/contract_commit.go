package devicetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func commitCases() []Case {
	const invalid = "At any other version, or if nothing was kept for v, the error wraps Invalid."
	return []Case{
		contractCase("commit: idempotent", "An executable that is already at v+1 returns nil and does nothing.",
			idempotent),
		contractCase("commit: every tensor", "Commit makes version v+1: every state tensor that the function "+
			"commit updates takes its value, all at once. Go through all of the function's updates.", everyTensor),
		contractCase("commit: version", invalid, wrongVersions),
		contractCase("commit: once for each run", invalid, onceForEachRun),
		contractCase("commit: hyper-parameters",
			"Hyper holds the inputs of the function commit that train does not keep.", needsHyper),
		contractCase("commit: not finite", "If an update is infinite or NaN somewhere, the error of a device with "+
			"the feature FiniteUpdates wraps NonFinite and names the tensor.", refusesNonFinite),
		contractCase("commit: after a failed run", "An error leaves state and version as they were.", afterFailure),
	}
}

func idempotent(ctx context.Context, m *member, s *setting) error {
	before, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	if err := m.x.Commit(ctx, 0, rate); err != nil {
		return err
	}
	if err := m.changed(ctx, before); err != nil {
		return err
	}
	once, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	for range 2 {
		if err := m.x.Commit(ctx, 0, rate); err != nil {
			return fmt.Errorf("again: %w", err)
		}
	}
	return m.unchanged(ctx, once)
}

func wrongVersions(ctx context.Context, m *member, s *setting) error {
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	before, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	commit := func(v device.Version) func() error { return func() error { return m.x.Commit(ctx, v, rate) } }
	if err := allFail([]attempt{
		{"version 1 of an executable at 0", device.Invalid, commit(1)},
		{"version 7 of an executable at 0", device.Invalid, commit(7)},
	}); err != nil {
		return err
	}
	if err := m.unchanged(ctx, before); err != nil {
		return err
	}
	return m.x.Commit(ctx, 0, rate)
}

func onceForEachRun(ctx context.Context, m *member, s *setting) error {
	commit := func(v device.Version) func() error { return func() error { return m.x.Commit(ctx, v, rate) } }
	if err := allFail([]attempt{{"before any run", device.Invalid, commit(0)}}); err != nil {
		return err
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	if err := m.x.Commit(ctx, 0, rate); err != nil {
		return err
	}
	if err := allFail([]attempt{{"twice on one run", device.Invalid, commit(1)}}); err != nil {
		return err
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	return m.x.Commit(ctx, 1, rate)
}

func needsHyper(ctx context.Context, m *member, s *setting) error {
	before, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	if err := allFail([]attempt{{"without lr", device.Invalid, func() error {
		return m.x.Commit(ctx, 0, device.Hyper{"rate": 1})
	}}}); err != nil {
		return err
	}
	if err := m.unchanged(ctx, before); err != nil {
		return err
	}
	return m.x.Commit(ctx, 0, rate)
}

// afterFailure checks that a run with a cancelled context changes no state, and that the device can then
// run, commit and predict. The runs after it have the same outputs as the runs before it.
func afterFailure(ctx context.Context, m *member, s *setting) error {
	before, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	if err := sameAfterFailure(ctx, m, s); err != nil {
		return err
	}
	if err := m.unchanged(ctx, before); err != nil {
		return err
	}
	if err := m.x.Commit(ctx, 0, rate); err != nil {
		return err
	}
	predict, err := small("batch").setting(graph.Predict, 4)
	if err != nil {
		return err
	}
	return sameAfterFailure(ctx, m, predict)
}

// sameAfterFailure runs s, fails to run it with a cancelled context, and runs it again. Both runs must have
// the same bits.
func sameAfterFailure(ctx context.Context, m *member, s *setting) error {
	want, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.x.Run(canceled, s.step(0)); !errors.Is(err, device.Canceled) {
		return fmt.Errorf("a run whose context has ended: %v, want an error of kind %q", err, device.Canceled)
	}
	got, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	if err := equal(got, want, tensor.Tolerance{}, outputNames); err != nil {
		return fmt.Errorf("after a run whose context has ended: %w", err)
	}
	return nil
}

// refusesNonFinite makes the weights overflow although weights, velocities and rate are finite.
// Then it makes all state NaN. It checks that commits fail, and that the executable works afterwards.
func refusesNonFinite(ctx context.Context, m *member, s *setting) error {
	if !m.Info().Has(device.FiniteUpdates) {
		return nil
	}
	before, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	velocities := func(name string, v tensor.Tensor) { // 0.9 * v is finite, but v times the rate is not
		if strings.HasSuffix(name, momentumRule.slots[0]) {
			v.F32()[v.Count()-1] = 3e38
		}
	}
	everything := func(_ string, v tensor.Tensor) { set(v, func(int) float64 { return math.NaN() }) }
	for _, c := range []struct {
		spoil func(string, tensor.Tensor)
		hyper device.Hyper
	}{
		{velocities, device.Hyper{"lr": math.MaxFloat32}},
		{velocities, device.Hyper{"lr": -math.MaxFloat32}},
		{everything, rate}, // no update is finite
	} {
		if err := m.refusesUpdate(ctx, s, before, c.spoil, c.hyper); err != nil {
			return err
		}
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	return m.x.Commit(ctx, 0, rate)
}

// refusesUpdate runs a step from a spoiled state, with an update that is not finite, and
// restores the state.
func (m *member) refusesUpdate(ctx context.Context, s *setting, before []tensor.Tensor,
	spoil func(name string, v tensor.Tensor), h device.Hyper) error {
	names := small("batch").names()
	for i, name := range names {
		v := before[i].Clone()
		spoil(name, v)
		if err := m.x.Write(ctx, name, v); err != nil {
			return err
		}
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	err := m.x.Commit(ctx, 0, h)
	if err := wantKind(err, device.NonFinite); err != nil {
		return err
	}
	if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(err.Error(), n) }) {
		return fmt.Errorf("error %q names no state tensor", err)
	}
	if err := allFail([]attempt{
		{"again without a run", device.Invalid, func() error { return m.x.Commit(ctx, 0, rate) }},
		{"the version after it", device.Invalid, func() error { return m.x.Commit(ctx, 1, rate) }},
	}); err != nil {
		return err
	}
	for i, name := range names {
		if err := m.x.Write(ctx, name, before[i]); err != nil {
			return err
		}
	}
	return nil
}
