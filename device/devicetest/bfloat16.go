package devicetest

import (
	"context"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

type precisionKey struct{}

// withPrecision returns a context that sets the precision of a case. The case opens its devices, and ref, at
// this precision.
func withPrecision(ctx context.Context, precision string) context.Context {
	return context.WithValue(ctx, precisionKey{}, precision)
}

// precisionOf returns the precision of a context, or F32 by default.
func precisionOf(ctx context.Context) string {
	if p, ok := ctx.Value(precisionKey{}).(string); ok {
		return p
	}
	return device.F32
}

// precisions returns all precisions of a device.
func precisions(i device.Info) []string {
	var have []string
	for _, p := range device.Precisions() {
		if i.Computes(p) {
			have = append(have, p)
		}
	}
	return have
}

// device opens a device at the precision of the context.
func (open Opener) device(ctx context.Context) (device.Device, error) {
	return open(ctx, precisionOf(ctx))
}

// openRef opens a reference device (package device/ref).
var openRef Opener = func(ctx context.Context, precision string) (device.Device, error) {
	return ref.Provider{}.Open(ctx, device.DefaultID, device.Options{Precision: precision})
}

const (
	// spacing is the largest relative distance between neighbouring bfloat16 numbers. Two nearly
	// equal values may be rounded to results that are this far apart.
	spacing = 0x1p-7
	// leastNormal is the smallest normal number. Smaller numbers may be treated as 0.
	leastNormal = 0x1p-126
)

// checkStored checks that a result of type t has only bfloat16 numbers if it is stored as bfloat16.
func checkStored(ctx context.Context, t graph.Type, got tensor.Tensor) error {
	if precisionOf(ctx) != device.BF16 || !device.StoredBF16(t) {
		return nil
	}
	for i, v := range got.F32() {
		if w := device.RoundBF16(v); v == v && v != w {
			return fmt.Errorf("element %d of %v is %g, which is not a bfloat16: the nearest is %g", i, got, v, w)
		}
	}
	return nil
}

// precedingError returns the error that tol permits for element i of a float32 result before it is rounded
// for storage.
func precedingError(tol tensor.Tolerance, want tensor.Tensor, i int) float64 {
	scale := want
	if !tol.Scale.IsZero() {
		scale = tol.Scale
	}
	return tol.Absolute + float64(tol.Relative*math.Abs(float64(scale.F32()[i])))
}

// closeStored compares results that are stored as bfloat16: each side may have one rounding
// in addition to the error that tol allows.
func closeStored(got, want tensor.Tensor, tol tensor.Tolerance) error {
	allowed := tensor.New(tensor.F64, want.Shape...)
	for i, v := range want.F32() {
		allowed.F64()[i] = precedingError(tol, want, i) + float64(spacing*math.Abs(float64(v)))
	}
	return tensor.Close(got, want, tensor.Tolerance{Absolute: leastNormal, Relative: 1, Scale: allowed})
}

// closeRounded is like closeStored but also checks that results are rounded to nearest. It considers
// elements with an error before rounding of at most 1/32 of the spacing. By chance, about 1 in 16 of
// these is so near the middle of two bfloat16 numbers that it may be rounded to either. At most a quarter
// of them may differ from want. On a device that does not round to nearest, half of them differ.
func closeRounded(got, want tensor.Tensor, tol tensor.Tolerance) error {
	if err := closeStored(got, want, tol); err != nil {
		return err
	}
	clear, other := 0, 0
	for i, v := range want.F32() {
		if precedingError(tol, want, i) <= spacing/32*math.Abs(float64(v)) {
			clear++
			if w := got.F32()[i]; v == v && v != w {
				other++
			}
		}
	}
	if few := 4; other > clear/4+few {
		return fmt.Errorf("%d of %d elements of %v are not the bfloat16 nearest to the result", other, clear, want)
	}
	return nil
}

// widen adds the error of bfloat16 intermediate values to the tolerances. It is twice the largest
// difference between ref's results at BF16 and at F32, because each of the two devices that are
// compared may have this error.
func (s *setting) widen(ctx context.Context, tol []tensor.Tolerance, want []tensor.Tensor) error {
	plain, err := s.reference(withPrecision(ctx, device.F32))
	if err != nil {
		return err
	}
	for i := range tol {
		tol[i].Absolute += 2 * farthest(want[i], plain[i])
	}
	return nil
}

// farthest returns the largest distance between elements of two tensors of floats.
func farthest(a, b tensor.Tensor) float64 {
	most := 0.0
	for i := range a.Count() {
		if a.DType == tensor.F64 {
			most = max(most, math.Abs(a.F64()[i]-b.F64()[i]))
		} else {
			most = max(most, math.Abs(float64(a.F32()[i])-float64(b.F32()[i])))
		}
	}
	return most
}
