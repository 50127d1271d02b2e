package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Tolerance bounds the error of an element by Absolute + Relative * scale. The scale is the
// magnitude of the wanted element, or the element of Scale, a tensor of the same shape and type.
// The zero Tolerance requires equal bits.
type Tolerance struct {
	Absolute float64
	Relative float64
	Scale    Tensor // F32 or F64 with the shape of want and elements of at least 0, or the zero Tensor
}

func (t Tolerance) exact() bool { return t.Absolute == 0 && t.Relative == 0 }

// Close returns nil if got equals want within a tolerance. Otherwise the error counts the elements that
// differ and shows the first and the worst. Types and shapes must be equal. Infinities must be the same. Any
// NaN equals any other NaN, unless tol requires equal bits.
func Close(got, want Tensor, tol Tolerance) error {
	if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	switch {
	case Equal(got, want):
		return nil
	case tol.exact():
		return differ(got, want, func(i int) (float64, float64) { return bitDistance(got, want, i), 0 })
	}
	a, err := asF64(got)
	if err != nil {
		return err
	}
	b, _ := asF64(want)
	scale := b
	if !tol.Scale.IsZero() {
		if scale, err = asF64(tol.Scale); err != nil || len(scale) != len(b) {
			return fmt.Errorf("a scale of %v for a tensor of %v", tol.Scale, want)
		}
	}
	return differ(got, want, func(i int) (float64, float64) {
		return distance(a[i], b[i]), tol.Absolute + float64(tol.Relative*math.Abs(scale[i]))
	})
}

// distance returns |a-b|: 0 for two NaN or equal infinities, infinite if only one is NaN.
func distance(a, b float64) float64 {
	switch {
	case a == b, a != a && b != b:
		return 0
	case a != a || b != b:
		return math.Inf(1)
	}
	return math.Abs(a - b)
}

// bitDistance returns 0 if the bytes of element i are equal, and 1 otherwise.
func bitDistance(a, b Tensor, i int) float64 {
	n := a.DType.Size()
	if string(a.Bytes[i*n:(i+1)*n]) == string(b.Bytes[i*n:(i+1)*n]) {
		return 0
	}
	return 1
}

// differ applies error and bound to every element and describes the elements beyond the bound.
func differ(got, want Tensor, errorAt func(i int) (err, bound float64)) error {
	bad, first, worst, excess := 0, 0, 0, 0.0
	n := got.Count()
	for i := range n {
		err, bound := errorAt(i)
		if err == 0 || err <= bound && !math.IsInf(err, 0) {
			continue
		}
		if bad == 0 {
			first = i
		}
		if e := err / bound; e > excess || bad == 0 {
			worst, excess = i, e
		}
		bad++
	}
	if bad == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %d elements of %v differ: first %s", bad, n, want, show(got, want, first))
	if worst != first {
		text += "; worst " + show(got, want, worst)
	}
	if err, bound := errorAt(worst); bound > 0 {
		text += fmt.Sprintf(" (off by %.3g, allowed %.3g)", err, bound)
	}
	return errors.New(text)
}

// show writes "[2,0,1]: got 1.5, want 2".
func show(got, want Tensor, i int) string {
	return fmt.Sprintf("%v: got %s, want %s", coordinates(want.Shape, i), got.element(i), want.element(i))
}

func coordinates(shape []int, i int) []int {
	at := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return at
}

// element writes one element, floats with all the digits they need.
func (t Tensor) element(i int) string {
	n := t.DType.Size()
	bytes := t.Bytes[i*n : (i+1)*n]
	v, err := asF64(Tensor{DType: t.DType, Bytes: bytes})
	switch {
	case err != nil:
		return fmt.Sprintf("%#x", bytes)
	case t.DType == F32:
		return fmt.Sprint(float32(v[0]))
	}
	return fmt.Sprint(v[0])
}

// asF64 converts the types that are compared by value.
func asF64(t Tensor) ([]float64, error) {
	out := make([]float64, t.Count())
	switch t.DType {
	case F32:
		widen(out, t.F32())
	case F64:
		copy(out, t.F64())
	case I32:
		widen(out, t.I32())
	case I64:
		widen(out, t.I64())
	default:
		return nil, fmt.Errorf("tensors of %v are compared by their bits only", t.DType)
	}
	return out, nil
}

func widen[T float32 | int32 | int64](dst []float64, src []T) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}
