package quantize

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Range is the range of the numbers of a feature map.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// union returns the smallest range that contains r and s.
func (r Range) union(s Range) Range { return Range{min(r.Low, s.Low), max(r.High, s.High)} }

// cut returns the part of the range s that is within r.
func (r Range) cut(s Range) Range {
	return Range{min(max(s.Low, r.Low), r.High), max(min(s.High, r.High), r.Low)}
}

// scale maps a byte q to the number factor*(q - zero).
type scale struct {
	factor float32
	zero   int
}

// steps is the number of steps of a byte.
const steps = 255

// scaleOf returns the scale for a range, extended to include 0, which is one of its steps.
func (r Range) scaleOf() (scale, error) {
	low, high := min(r.Low, 0), max(r.High, 0)
	if !tensor.IsFinite(low) || !tensor.IsFinite(high) {
		return scale{}, problem.Advise("look at the model with {doctor}",
			"its range is %g to %g, which is not finite", r.Low, r.High)
	}
	s := float32((high - low) / steps)
	switch {
	case low == high: // a dead feature map: all numbers are 0
		return scale{factor: 1}, nil
	case s < leastScale || s > mostScale:
		advice := "look at the model with {doctor}, or leave the layers beside it float32 with {keep}"
		return scale{}, problem.Advise(advice, "its range is %g to %g: a step would be %g, want %g to %g",
			r.Low, r.High, (high-low)/steps, leastScale, mostScale)
	}
	return scale{s, int(min(math.RoundToEven(-low/float64(s)), steps))}, nil
}

// A scale, and the products and quotients of scales, must be normal float32 numbers.
const (
	leastScale = 0x1p-60
	mostScale  = 0x1p60
)

// byteOf returns the byte of a number.
func (s scale) byteOf(x float64) uint8 {
	return class.Int8{Zero: int32(s.zero), Max: steps}.Quantize(float32(x), s.factor)
}

// number returns the number that byte q represents.
func (s scale) number(q int) float64 { return float64(s.factor * float32(q-s.zero)) }

// bounds converts a range that bounds results to bytes. The range may be infinite.
func (s scale) bounds(r Range) (low, high int) {
	return int(s.byteOf(r.Low)), int(s.byteOf(r.High))
}
