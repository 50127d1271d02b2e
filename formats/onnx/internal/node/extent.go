package node

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// MaxPlaces is the limit of integers that are computed. f32 represents all integers below it exactly.
const MaxPlaces = 1 << 24

// Extent is a pair of bounds of integers. They need not be tight.
type Extent struct{ Least, Most float64 }

// Extent returns the bounds of a value, or nil if they are unknown.
func (x Value) Extent() *Extent {
	switch {
	case !x.IsConstant():
		if x.HoldsIntegers() {
			return x.Within
		}
		return nil
	case element.IsFloat(x.Tensor.DType) || x.Tensor.DType == tensor.Bool || x.Tensor.Count() == 0:
		return nil
	}
	all, err := element.IntegersOf(x.Tensor)
	if err != nil {
		return nil
	}
	return &Extent{float64(slices.Min(all)), float64(slices.Max(all))}
}

// Whole returns the bounds of numbers within e after truncation to integers.
func (e *Extent) Whole() *Extent {
	if e == nil {
		return nil
	}
	return &Extent{math.Trunc(e.Least), math.Trunc(e.Most)}
}

// IsExact reports whether f32 represents all integers within e exactly.
func (e *Extent) IsExact() bool { return e != nil && e.Least > -MaxPlaces && e.Most < MaxPlaces }

// Fits reports whether a type represents all integers within e.
func (e *Extent) Fits(d tensor.DType) bool {
	if d == tensor.U64 {
		return e != nil && e.Least >= 0 && e.Most < 1<<64
	}
	limits, ok := element.Limits[d]
	return ok && e != nil && e.Least >= float64(limits[0]) && e.Most <= float64(limits[1])
}

// Known returns the bounds of computed integers or truth values. If nothing else is known, they are the
// bounds of the type. It returns nil for other values.
func (c *Node) Known(x Value) *Extent {
	limits, ok := element.Limits[x.Kind]
	switch {
	case x.HoldsTruths():
		return &Extent{0, 1}
	case x.IsScores() && len(c.ShapeOf(x)) > 0:
		return &Extent{0, float64(c.ShapeOf(x)[0] - 1)}
	case x.Extent() != nil || !ok:
		return x.Extent()
	}
	return &Extent{float64(limits[0]), float64(limits[1])}
}
