package formats

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// numbers are the elements of a tensor of floats, row-major. They are float64, which is
// exact for all types of weights. PyTorch computes in the type of the tensor, so that its
// results differ by rounding.
type numbers []float64

// load reads a tensor as numbers.
func load(t Tensor) (numbers, error) {
	v, err := t.Load()
	if err != nil {
		return nil, err
	}
	if v.DType == tensor.F64 {
		return numbers(v.F64()), nil
	}
	if v, err = v.ToF32(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	out := make(numbers, v.Count())
	for i, x := range v.F32() {
		out[i] = float64(x)
	}
	return out, nil
}

// product computes torch.nn.utils.prune: orig * mask.
func product(orig, mask Tensor) (numbers, error) {
	x, err := load(orig)
	if err != nil {
		return nil, err
	}
	m, err := load(mask)
	for i := range m {
		x[i] *= m[i]
	}
	return x, err
}

// fitsNorm reports whether g and v can be the tensors of weight_norm: g has one number for
// each index of one axis of v, or a single number.
func fitsNorm(g, v Tensor) bool {
	if len(g.Shape) == 0 {
		return true
	}
	if len(g.Shape) != len(v.Shape) {
		return false
	}
	axes := 0
	for i, n := range g.Shape {
		if n != 1 && n != v.Shape[i] {
			return false
		}
		if n != 1 {
			axes++
		}
	}
	return axes <= 1
}

// normed computes torch._weight_norm: v times g / |v|. The norm is over all axes except the
// axis of g.
func normed(g, v Tensor) (numbers, error) {
	x, err := load(v)
	if err != nil {
		return nil, err
	}
	length, err := load(g)
	if err != nil {
		return nil, err
	}
	inner := len(x) / len(length) // elements per index of the axis
	for i, n := range slices.Backward(g.Shape) {
		if n != 1 {
			inner = tensor.Count(v.Shape[i+1:])
		}
	}
	inner = max(inner, 1)
	squares := make(numbers, len(length))
	indexOf := func(i int) int { return i / inner % len(length) }
	for i, a := range x {
		squares[indexOf(i)] += float64(a * a)
	}
	for i := range squares {
		squares[i] = length[i] / math.Sqrt(squares[i])
	}
	for i := range x {
		x[i] *= squares[indexOf(i)]
	}
	return x, nil
}

// sides returns the axes of orig that spectral_norm may have been applied along: 0, or 1
// for a transposed convolution. The length of such an axis is the length of u, and the
// product of the other lengths is the length of v.
func sides(orig, u, v Tensor) (axes []int) {
	if len(orig.Shape) < 2 || len(u.Shape) != 1 || len(v.Shape) != 1 {
		return nil
	}
	for axis, n := range orig.Shape[:min(len(orig.Shape)-1, 2)] {
		if n == u.Shape[0] && n*v.Shape[0] == tensor.Count(orig.Shape) {
			axes = append(axes, axis)
		}
	}
	return axes
}

func fitsSpectral(orig, u, v Tensor) bool { return len(sides(orig, u, v)) > 0 }

// bySigma computes torch.nn.utils.spectral_norm in prediction: orig / sigma, where sigma is
// u . M v and M is orig as a matrix. If the lengths of u and v fit two axes, bySigma uses
// the axis with the larger sigma: training iterates u and v until sigma is nearly the
// largest possible value, and the wrong axis gives a much smaller sigma.
func bySigma(orig, u, v Tensor) (numbers, error) {
	var operands [3]numbers
	for i, t := range []Tensor{orig, u, v} {
		var err error
		if operands[i], err = load(t); err != nil {
			return nil, err
		}
	}
	x, sigma, second := operands[0], 0.0, 0.0
	for _, axis := range sides(orig, u, v) {
		if s := sigmaOf(operands, orig.Shape, axis); math.Abs(s) > math.Abs(sigma) {
			sigma, second = s, sigma
		} else {
			second = s
		}
	}
	const clear = 2
	if len(sides(orig, u, v)) > 1 && math.Abs(sigma) < clear*math.Abs(second) {
		return nil, problem.Advise("call remove_spectral_norm before the model is saved",
			"%s: the file does not say whether spectral_norm is along axis 0 or 1: sigma would be %.4g or %.4g",
			orig.Name, sigma, second)
	}
	for i := range x {
		x[i] /= sigma
	}
	return x, nil
}

// sigmaOf computes u . M v. The rows of M are the indices of an axis of x.
func sigmaOf(operands [3]numbers, shape []int, axis int) (sum float64) {
	x, u, v := operands[0], operands[1], operands[2]
	inner := tensor.Count(shape[axis+1:])
	for i, a := range x {
		row := i / inner % shape[axis]
		column := i/(inner*shape[axis])*inner + i%inner
		sum += float64(float64(u[row]*a) * v[column])
	}
	return sum
}

// round writes x to dst, rounded to a type.
func (x numbers) round(d tensor.DType, dst []byte) error {
	for i, v := range x {
		switch d {
		case tensor.F32:
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(v)))
		case tensor.F64:
			binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(v))
		case tensor.F16:
			binary.LittleEndian.PutUint16(dst[2*i:], half(v))
		case tensor.BF16:
			binary.LittleEndian.PutUint16(dst[2*i:], brain(float32(v)))
		default:
			return fmt.Errorf("a reparametrised tensor of type %v; want floats", d)
		}
	}
	return nil
}

// half rounds to the nearest float16, ties to even.
func half(v float64) uint16 {
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	const overflow, smallest, digits = 65520, -14, 10
	switch a := math.Abs(v); {
	case v != v:
		return 0x7e00
	case a >= overflow:
		return sign | 0x7c00
	case a == 0:
		return sign
	default:
		e := max(math.Ilogb(a), smallest)
		return sign | uint16((e-smallest)<<digits) + uint16(math.RoundToEven(math.Ldexp(a, digits-e)))
	}
}

// brain rounds to the nearest bfloat16, ties to even.
func brain(v float32) uint16 {
	if v != v {
		return 0x7fc0
	}
	b := math.Float32bits(v)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
