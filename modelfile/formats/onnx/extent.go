package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

const maxPlaces = 1 << 24 // f32 holds all integers below

// extent is what integers lie between at least.
type extent struct{ least, most float64 }

// extent returns the bounds of a value; nil if they are not known.
func (x value) extent() *extent {
	switch {
	case !x.isConstant():
		if x.integer {
			return x.within
		}
		return nil
	case element.IsFloat(x.c.DType) || x.c.DType == tensor.Bool || x.c.Count() == 0:
		return nil
	}
	all, err := element.IntegersOf(x.c)
	if err != nil {
		return nil
	}
	return &extent{float64(slices.Min(all)), float64(slices.Max(all))}
}

// whole is what numbers within e may be when they are cut off behind the point.
func (e *extent) whole() *extent {
	if e == nil {
		return nil
	}
	return &extent{math.Trunc(e.least), math.Trunc(e.most)}
}

// isExact reports whether f32 has all integers within e.
func (e *extent) isExact() bool { return e != nil && e.least > -maxPlaces && e.most < maxPlaces }

// fits reports whether all integers within e are of a type.
func (e *extent) fits(d tensor.DType) bool {
	if d == tensor.U64 {
		return e != nil && e.least >= 0 && e.most < 1<<64
	}
	limits, ok := element.Limits[d]
	return ok && e != nil && e.least >= float64(limits[0]) && e.most <= float64(limits[1])
}

// known returns the bounds of integers or truth values that are computed, by their type where nothing else
// is known; nil of others.
func (c *Node) known(x value) *extent {
	limits, ok := element.Limits[x.kind]
	switch {
	case x.truth:
		return &extent{0, 1}
	case x.fromArgMax && len(c.shapeOf(x)) > 0:
		return &extent{0, float64(c.shapeOf(x)[0] - 1)}
	case x.extent() != nil || !ok:
		return x.extent()
	}
	return &extent{float64(limits[0]), float64(limits[1])}
}
