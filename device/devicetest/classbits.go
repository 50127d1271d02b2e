package devicetest

import (
	"context"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/tensor"
)

// defines reports whether package class defines the bits of a device that claims a class. It
// does for class.FMA at precision device.F32.
func defines(ctx context.Context, claim string) bool {
	return claim == class.FMA && precisionOf(ctx) == device.F32
}

// sameAsDefined compares the outputs of a device of a class, bit by bit, with the outputs
// of ref when it runs the definitions of the class.
func (s *setting) sameAsDefined(ctx context.Context, claim string, got []tensor.Tensor) error {
	if !defines(ctx, claim) {
		return nil
	}
	definition, err := s.defined(ctx, claim)
	if err != nil {
		return err
	}
	return sameBitsAs(claim, got, definition)
}

// sameBitsAs compares the bits of results with want, the bits that a class defines.
func sameBitsAs(claim string, got, want []tensor.Tensor) error {
	for i := range want {
		if err := bitsDiffer(got[i], want[i]); err != nil {
			return fmt.Errorf("result %d has other bits than class %s defines, which Info.Kernels names: %w", i, claim,
				err)
		}
	}
	return nil
}

// defined runs the definitions of a class.
func (s *setting) defined(ctx context.Context, claim string) ([]tensor.Tensor, error) {
	want, err := s.onRef(ctx, device.Options{Kernels: claim})
	if err != nil {
		return nil, fmt.Errorf("definition: %w", err)
	}
	return want, nil
}

// bitsDiffer returns an error that names the first element with other bits. All
// NaNs count as equal; zeros of different sign do not.
func bitsDiffer(got, want tensor.Tensor) error {
	if tensor.Equal(got, want) {
		return nil
	}
	differ, first := 0, -1
	var g, w float64
	for i := range want.Count() {
		a, b := element(got, i), element(want, i)
		if math.Float64bits(a) == math.Float64bits(b) || a != a && b != b {
			continue
		}
		if differ++; first < 0 {
			first, g, w = i, a, b
		}
	}
	if differ == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d elements, the first is element %d: %v, want %v", differ, want.Count(), first,
		g, w)
}

// element returns an element of a tensor.
func element(t tensor.Tensor, i int) float64 {
	switch t.DType {
	case tensor.F32:
		return float64(t.F32()[i])
	case tensor.F64:
		return t.F64()[i]
	case tensor.I32:
		return float64(t.I32()[i])
	case tensor.I64:
		return float64(t.I64()[i])
	}
	return float64(t.U8()[i])
}
