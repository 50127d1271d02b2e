package devicetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/tensor"
)

// judged returns the Run of a case that compares runs of a setting with ref: one run with all replicas
// together, one with no replica, and one for each replica alone.
func judged(build func() (*setting, error)) func(ctx context.Context, open Opener) error {
	return func(ctx context.Context, open Opener) error {
		s, err := build()
		if err != nil {
			return err
		}
		m, err := loaded(ctx, open, s)
		if err != nil {
			return err
		}
		defer m.Close()
		joint, err := s.compare(ctx, m)
		if err != nil {
			return fmt.Errorf("replicas of %v rows: %w", s.rows, err)
		}
		if _, err := s.ofReplicas().compare(ctx, m); err != nil {
			return fmt.Errorf("no replica at all: %w", err)
		}
		return s.eachAlone(ctx, m, joint)
	}
}

// eachAlone runs each replica alone, and compares the result with ref and with the replica's
// rows of joint. If the device has the feature Deterministic, the bits must equal joint.
func (s *setting) eachAlone(ctx context.Context, m *member, joint []tensor.Tensor) error {
	for r := range s.rows {
		alone, err := s.ofReplicas(r).compare(ctx, m)
		if err == nil && m.Info().Has(device.Deterministic) {
			err = s.sameBits(alone, joint, r)
		}
		if err != nil {
			return fmt.Errorf("replica %d of %d rows, alone: %w", r, s.rows[r], err)
		}
	}
	return nil
}

// compare runs a setting on the device and on ref and compares all outputs. If the device
// claims a class with defined bits, the bits must be equal.
func (s *setting) compare(ctx context.Context, m *member) ([]tensor.Tensor, error) {
	want, err := s.reference(ctx)
	if err != nil {
		return nil, err
	}
	got, err := s.run(ctx, m.x)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(got, want, tensor.Equal) { // computing tolerances may need another run of ref
		if err := s.within(ctx, got, want); err != nil {
			return nil, err
		}
	}
	claim := m.Info().Kernels
	if claim == class.Ref {
		return got, sameBitsAs(claim, got, want)
	}
	return got, s.sameAsDefined(ctx, claim, got)
}

// within compares outputs with the outputs of ref, within their tolerances.
func (s *setting) within(ctx context.Context, got, want []tensor.Tensor) error {
	tol, err := s.tolerances(ctx, want)
	if err != nil {
		return err
	}
	for i, t := range s.outputs() {
		within := tensor.Close
		switch {
		case s.tol == bits || precisionOf(ctx) == device.F32 || !device.StoredBF16(t):
		case s.tol.inner:
			within = closeStored
		default:
			within = closeRounded
		}
		if err := within(got[i], want[i], tol[i]); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// sameBits compares the outputs of replica r alone with the same rows in a run of all replicas.
func (s *setting) sameBits(single, joint []tensor.Tensor, r int) error {
	i := 0
	f := s.program.Function(s.function)
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		among := s.selectReplicas(f.Values[o.Value].Type.Kind, joint[i], []int{r})
		if err := tensor.Close(single[i], among, tensor.Tolerance{}); err != nil {
			return fmt.Errorf("output %s has other bits than among the other replicas: %w", o.Name, err)
		}
		i++
	}
	return nil
}
