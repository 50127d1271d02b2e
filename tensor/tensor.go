// Package tensor holds host tensors: a data type, a shape and bytes.
//
// Use it to give data to devices and to read their results.
//
// A Tensor is a plain value. Its elements are in row-major order, little endian, without gaps, in
// one byte slice that the tensor may share with others (a view) and with a memory-mapped file. This
// package does not compute with tensors: devices do.
package tensor

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Alignment is the alignment of the first element of New in bytes: one cache line, and the longest vector
// register of any known machine.
const Alignment = 64

// Tensor is a typed, shaped view of bytes. The zero Tensor has no type and means "no tensor".
type Tensor struct {
	DType DType
	Shape []int  // rank 0 is a scalar
	Bytes []byte // exactly Count(Shape) elements
}

// New returns a tensor of zeros. It panics if the shape is not valid: shapes
// that come from files are checked with CheckShape first.
func New(d DType, shape ...int) Tensor {
	n, err := Size(d, shape)
	if err != nil {
		panic(err)
	}
	return Tensor{DType: d, Shape: slices.Clone(shape), Bytes: alignedBytes(n)}
}

// FromBytes returns a view of b, which must hold exactly the elements of a tensor of type d and this
// shape.
func FromBytes(d DType, shape []int, b []byte) (Tensor, error) {
	n, err := Size(d, shape)
	if err != nil {
		return Tensor{}, err
	}
	if len(b) != n {
		return Tensor{}, fmt.Errorf("tensor %v%v takes %d bytes, have %d", d, shape, n, len(b))
	}
	return Tensor{DType: d, Shape: slices.Clone(shape), Bytes: b}, nil
}

// Of returns a tensor that holds a copy of values.
func Of[T Element](values []T, shape ...int) Tensor {
	t := New(typeOf[T](), shape...)
	if len(values) != t.Count() {
		panic(fmt.Sprintf("tensor.Of: shape %v takes %d values, have %d", shape, t.Count(), len(values)))
	}
	copy(View[T](t), values)
	return t
}

// Scalar returns a tensor of rank 0.
func Scalar[T Element](v T) Tensor { return Of([]T{v}) }

// View returns the elements of t as a slice of T that shares its memory. It panics if T is not the Go
// type of t's elements, or if the bytes are not aligned for T (bytes of mapped files are aligned).
func View[T Element](t Tensor) []T {
	if t.DType != typeOf[T]() {
		panic(fmt.Sprintf("tensor.View: %v tensor viewed as %v", t.DType, typeOf[T]()))
	}
	if len(t.Bytes) == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(t.Bytes))
	var zero T
	if uintptr(p)%unsafe.Alignof(zero) != 0 {
		panic("tensor.View: bytes are not aligned for " + t.DType.String())
	}
	return unsafe.Slice((*T)(p), len(t.Bytes)/int(unsafe.Sizeof(zero)))
}

// Aligned reports whether the bytes are aligned for the type, as View requires.
func (t Tensor) Aligned() bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(t.Bytes)))%uintptr(t.DType.Size()) == 0
}

// F32 returns View[float32](t).
func (t Tensor) F32() []float32 { return View[float32](t) }

// F64 returns View[float64](t).
func (t Tensor) F64() []float64 { return View[float64](t) }

// I32 returns View[int32](t).
func (t Tensor) I32() []int32 { return View[int32](t) }

// I64 returns View[int64](t).
func (t Tensor) I64() []int64 { return View[int64](t) }

// U8 returns View[uint8](t).
func (t Tensor) U8() []uint8 { return View[uint8](t) }

// IsZero reports whether t is the zero Tensor, which means "no tensor".
func (t Tensor) IsZero() bool { return t.DType == 0 }

// Count returns the number of elements.
func (t Tensor) Count() int { return Count(t.Shape) }

// Rows returns rows [from, to) of axis 0 as a view.
func (t Tensor) Rows(from, to int) Tensor {
	if len(t.Shape) == 0 || from < 0 || to < from || to > t.Shape[0] {
		panic(fmt.Sprintf("tensor.Rows: rows [%d, %d) of shape %v", from, to, t.Shape))
	}
	row := Count(t.Shape[1:]) * t.DType.Size()
	shape := slices.Clone(t.Shape)
	shape[0] = to - from
	return Tensor{DType: t.DType, Shape: shape, Bytes: t.Bytes[from*row : to*row : to*row]}
}

// Reshape returns a view of t with another shape and the same number of elements.
func (t Tensor) Reshape(shape ...int) Tensor {
	if Count(shape) != t.Count() {
		panic(fmt.Sprintf("tensor.Reshape: %v does not hold as many elements as %v", shape, t.Shape))
	}
	return Tensor{DType: t.DType, Shape: slices.Clone(shape), Bytes: t.Bytes}
}

// Clone returns a copy of t that shares nothing with it.
func (t Tensor) Clone() Tensor {
	c := Tensor{DType: t.DType, Shape: slices.Clone(t.Shape), Bytes: alignedBytes(len(t.Bytes))}
	copy(c.Bytes, t.Bytes)
	return c
}

// Equal reports whether a and b have the same type, shape and bits.
func Equal(a, b Tensor) bool {
	return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && string(a.Bytes) == string(b.Bytes)
}

// String describes t without its elements: "f32[16,3,3,3]".
func (t Tensor) String() string { return Describe(t.DType, t.Shape) }

// Describe writes a type and a shape the way the text form of graphs does:
// "f32[16,3,3,3]", "f64[]" for a scalar.
func Describe(d DType, shape []int) string {
	s := d.String() + "["
	for i, n := range shape {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprint(n)
	}
	return s + "]"
}

// Count returns the number of elements of a shape; 1 for rank 0.
func Count(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// MaxRank is the highest rank a tensor may have.
const MaxRank = 8

// CheckShape reports whether a shape from outside may be used: rank at most
// MaxRank, no negative length, and a byte count that fits in an int.
func CheckShape(d DType, shape []int) error {
	_, err := Size(d, shape)
	return err
}

// Size returns the number of bytes of a tensor of type d and the given shape.
func Size(d DType, shape []int) (int, error) {
	if !d.Valid() {
		return 0, fmt.Errorf("unknown tensor type %d", uint8(d))
	}
	if len(shape) > MaxRank {
		return 0, fmt.Errorf("tensor of rank %d; at most %d is supported", len(shape), MaxRank)
	}
	// A zero anywhere makes the tensor empty whatever the other lengths are.
	if slices.Contains(shape, 0) && !slices.ContainsFunc(shape, func(s int) bool { return s < 0 }) {
		return 0, nil
	}
	n := d.Size()
	for _, s := range shape {
		if s < 0 {
			return 0, fmt.Errorf("tensor shape %v has a negative length", shape)
		}
		if n > math.MaxInt/s {
			return 0, fmt.Errorf("tensor shape %v is too large", shape)
		}
		n *= s
	}
	return n, nil
}

func alignedBytes(n int) []byte {
	b := make([]byte, n+Alignment)
	off := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (Alignment - 1)
	return b[off : off+n : off+n]
}
