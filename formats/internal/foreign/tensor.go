package foreign

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Tensor is a named tensor of a file. Its elements are read on demand, so that a file
// larger than memory can be processed.
type Tensor struct {
	Name  string
	DType tensor.DType
	Shape []int

	read func(dst []byte) error
}

// NewTensor returns a tensor. read fills in its elements: row-major, little endian, with
// the number of bytes given by dtype and shape. The shape is checked.
func NewTensor(name string, d tensor.DType, shape []int, read func(dst []byte) error) (Tensor, error) {
	if err := tensor.CheckShape(d, shape); err != nil {
		return Tensor{}, fmt.Errorf("%s: %w", name, err)
	}
	return Tensor{Name: name, DType: d, Shape: slices.Clone(shape), read: read}, nil
}

// InMemory returns a tensor that is already in memory.
func InMemory(name string, t tensor.Tensor) Tensor {
	return Tensor{Name: name, DType: t.DType, Shape: slices.Clone(t.Shape), read: func(dst []byte) error {
		copy(dst, t.Bytes)
		return nil
	}}
}

// Reshaped returns t with the same elements in another shape of equal size.
func (t Tensor) Reshaped(shape ...int) Tensor {
	t.Shape = shape
	return t
}

// Renamed returns t under another name.
func (t Tensor) Renamed(name string) Tensor {
	t.Name = name
	return t
}

// Size returns the size of the elements in bytes.
func (t Tensor) Size() int {
	n, _ := tensor.Size(t.DType, t.Shape) // checked by NewTensor
	return n
}

// ReadInto fills dst, which has Size bytes, with the elements: row-major,
// little endian.
func (t Tensor) ReadInto(dst []byte) error {
	if len(dst) != t.Size() {
		return fmt.Errorf("%s: buffer of %d bytes for %d bytes", t.Name, len(dst), t.Size())
	}
	if err := t.read(dst); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return nil
}

// Load reads the tensor into new memory.
func (t Tensor) Load() (tensor.Tensor, error) { return t.LoadIn(nil) }

// LoadIn is like Load but uses memory of r.
func (t Tensor) LoadIn(r *tensor.Region) (tensor.Tensor, error) {
	out := r.New(t.DType, t.Shape...)
	return out, t.ReadInto(out.Bytes)
}

// String describes t: "conv1.weight f32[16,3,3,3]".
func (t Tensor) String() string { return t.Name + " " + tensor.Describe(t.DType, t.Shape) }
