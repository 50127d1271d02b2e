package devicetest

import (
	"context"
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// bound is the required precision of a probe.
type bound struct {
	absolute, relative float64
	// terms is the number of products in a sum. The permitted error, relative to the sum of |x||y|, is twice
	// the error of a chain of fused multiply-adds. Each multiply-add has an error of about half an ulp, and
	// the error of a chain grows like the square root of its length.
	terms int
	// inner reports that there are intermediate values that a device may store or not. At
	// precision BF16 the permitted error is then larger: see widen.
	inner bool
}

// ulp is the distance from 1 to the next float32.
const ulp = 0x1p-23

// Bounds that are used often. The bound bits requires the bits of ref.
var (
	bits     = bound{}
	rounded  = bound{relative: 2 * ulp, absolute: 1e-37} // a few roundings, no cancellation
	function = bound{relative: 8 * ulp, absolute: 4e-7}  // exp and similar functions
	blended  = bound{relative: 16 * ulp, absolute: 4e-6} // sums of a few terms of order 1
	doubled  = bound{relative: 1e-12, absolute: 1e-14}   // computed in float64
	losses   = bound{relative: 1e-6, absolute: 1e-6}     // float64 sums of float32 functions
)

func products(terms int) bound { return bound{terms: terms} }

// tolerances returns the tolerance of every output, without the rounding for storage. want
// has ref's outputs.
func (s *setting) tolerances(ctx context.Context, want []tensor.Tensor) ([]tensor.Tolerance, error) {
	tol := make([]tensor.Tolerance, len(want))
	for i := range tol {
		tol[i] = tensor.Tolerance{Absolute: s.tol.absolute, Relative: s.tol.relative}
	}
	if s.tol.inner && precisionOf(ctx) == device.BF16 {
		return tol, s.widen(ctx, tol, want)
	}
	if s.tol.terms == 0 {
		return tol, nil
	}
	sizes, err := s.magnitudes().reference(ctx)
	if err != nil {
		return nil, err
	}
	for i := range tol {
		tol[i].Relative = ulp * (1 + math.Sqrt(float64(s.tol.terms)))
		tol[i].Scale = sizes[i]
		if precisionOf(ctx) == device.BF16 {
			tol[i].Absolute = float64(s.tol.terms+1) * leastNormal
		}
	}
	return tol, nil
}

// magnitudes returns the setting with the absolute values of all f32 operands. The result
// of a product is then the sum of |x||y|.
func (s *setting) magnitudes() *setting {
	m := *s
	m.state, m.inputs = map[string]tensor.Tensor{}, nil
	for name, t := range s.state {
		m.state[name] = size(t)
	}
	for _, t := range s.inputs {
		m.inputs = append(m.inputs, size(t))
	}
	return &m
}

func size(t tensor.Tensor) tensor.Tensor {
	if t.DType != tensor.F32 {
		return t
	}
	t = t.Clone()
	for i, v := range t.F32() {
		t.F32()[i] = float32(math.Abs(float64(v)))
	}
	return t
}
