package models

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// FileTensor maps a tensor of another program's file to a tensor of the model's State. A model has
// one for each tensor with another name or form in the file, for a tensor of the state that the
// file lacks, and for a tensor of the file that the graph does not use.
type FileTensor struct {
	State string // name in the state; "" if it is not there
	Name  string // name in the file; "" if the file lacks it
	Moves []Move // moves that turn the state tensor into the file's, in this order
	// Content is a tensor of the file that is not in the state, such as the positions that an embedding is
	// read at.
	Content tensor.Tensor
}

// Move gives a tensor another order of axes (axis Perm[i] becomes axis i) or, if Perm is nil, another shape.
type Move struct {
	Perm, Shape []int
}

// Check returns an error for an entry that ReadModel must refuse.
func (f FileTensor) Check() error {
	if f.State == "" && (f.Name == "" || f.Content.Bytes == nil) {
		return fmt.Errorf("tensor %.80q of a file has neither a state nor a content", f.Name)
	}
	for _, m := range f.Moves {
		sorted := slices.Sorted(slices.Values(m.Perm))
		for i, a := range sorted {
			if a != i {
				return fmt.Errorf("state %.80q: %v is no order of axes", f.State, m.Perm)
			}
		}
		if err := tensor.CheckShape(tensor.F32, m.Shape); err != nil {
			return fmt.Errorf("state %.80q: %w", f.State, err)
		}
	}
	return nil
}

// FileForms returns the tensors of the file that correspond to a tensor of the state.
// Without entries in FileTensors it is one tensor of the same name and form. There are
// several if layers share the tensor under different names.
func (m *Model) FileForms(state string) []FileTensor {
	var forms []FileTensor
	for _, f := range m.FileTensors {
		if f.State == state {
			forms = append(forms, f)
		}
	}
	if forms == nil {
		return []FileTensor{{State: state, Name: state}}
	}
	return slices.DeleteFunc(forms, func(f FileTensor) bool { return f.Name == "" })
}

// Moved applies the moves to t. If t has other lengths than the tensor of the file, for
// example in a new head, they replace the lengths in the moves.
func (f FileTensor) Moved(t tensor.Tensor) tensor.Tensor {
	for _, m := range f.Moves {
		switch {
		case m.Perm == nil:
			shape := fitted(m.Shape, t.Shape)
			if tensor.Count(shape) == t.Count() {
				t = t.Reshape(shape...)
			}
		case len(m.Perm) == len(t.Shape):
			t = permuted(t, m.Perm)
		}
	}
	return t
}

// fitted returns shape with the lengths of have in place of its lengths above 1. It returns
// shape unchanged if the sizes are equal, or if the numbers of axes longer than 1 differ.
func fitted(shape, have []int) []int {
	isOne := func(n int) bool { return n == 1 }
	lengths := slices.DeleteFunc(slices.Clone(have), isOne)
	if tensor.Count(shape) == tensor.Count(have) ||
		len(lengths) != len(slices.DeleteFunc(slices.Clone(shape), isOne)) {
		return shape
	}
	shape = slices.Clone(shape)
	for i, n := range shape {
		if n != 1 {
			shape[i], lengths = lengths[0], lengths[1:]
		}
	}
	return shape
}

// permuted returns t with axis perm[i] as axis i.
func permuted(t tensor.Tensor, perm []int) tensor.Tensor {
	shape, strides := make([]int, len(perm)), make([]int, len(perm))
	n := t.DType.Size()
	for a := len(perm) - 1; a >= 0; a-- {
		strides[a] = n
		n *= t.Shape[a]
	}
	for i, a := range perm {
		shape[i] = t.Shape[a]
	}
	out, index, size := tensor.New(t.DType, shape...), make([]int, len(perm)), t.DType.Size()
	for at := 0; at < len(out.Bytes); at += size {
		from := 0
		for i, a := range perm {
			from += index[i] * strides[a]
		}
		copy(out.Bytes[at:at+size], t.Bytes[from:])
		for i := len(perm) - 1; i >= 0; i-- {
			if index[i]++; index[i] < shape[i] {
				break
			}
			index[i] = 0
		}
	}
	return out
}
