package wire

import (
	"fmt"
	"slices"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// header encodes the type and shape of t.
func header(t tensor.Tensor) *pb.Tensor {
	return &pb.Tensor{Dtype: pb.DType(t.DType), Shape: Numbers[int64](t.Shape)}
}

// headers decodes the types and shapes of the tensors of a message. The returned tensors have no
// bytes, but are valid otherwise.
func headers(in []*pb.Tensor) ([]tensor.Tensor, error) {
	if len(in) > MaxTensors {
		return nil, fmt.Errorf("message with %d tensors, at most %d are allowed", len(in), MaxTensors)
	}
	out := make([]tensor.Tensor, len(in))
	for i, h := range in {
		t, err := shapeOf(h)
		if err != nil {
			return nil, fmt.Errorf("tensor %d of %d: %w", i, len(in), err)
		}
		out[i] = t
	}
	return out, nil
}

func shapeOf(h *pb.Tensor) (tensor.Tensor, error) {
	if h.GetDtype() < 0 || h.GetDtype() > 255 || len(h.GetShape()) > tensor.MaxRank {
		return tensor.Tensor{}, fmt.Errorf("type %d with %d axes is unknown", h.GetDtype(), len(h.GetShape()))
	}
	t := tensor.Tensor{DType: tensor.DType(h.GetDtype()), Shape: Numbers[int](h.GetShape())}
	return t, tensor.CheckShape(t.DType, t.Shape)
}

// SameType reports whether a and b have the same type and shape.
func SameType(a, b tensor.Tensor) bool { return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) }

type number interface {
	~int | ~int32 | ~int64
}

// Numbers converts a list of numbers. Numbers that do not fit wrap around; the
// checks of the caller must refuse them.
func Numbers[To, From number](in []From) []To {
	if in == nil {
		return nil
	}
	out := make([]To, len(in))
	for i, v := range in {
		out[i] = To(v)
	}
	return out
}

// Arena provides memory for the tensors of one message at a time. It keeps the memory for the
// next message, so that a session allocates only for messages that are larger than all before.
type Arena struct{ memory []byte }

// Allocate returns tensors with the given types and shapes. They are valid until the next Allocate.
func (a *Arena) Allocate(heads []tensor.Tensor) []tensor.Tensor {
	if total := Span(heads); total > len(a.memory) {
		a.memory = tensor.New(tensor.U8, total).Bytes
	}
	assignMemory(a.memory, heads)
	return heads
}

// Trim frees the memory if it exceeds the given number of bytes, and reports whether it did.
func (a *Arena) Trim(most int) bool {
	if len(a.memory) <= most {
		return false
	}
	a.memory = nil
	return true
}

// Span returns the number of bytes that consecutive tensors occupy. Each begins at a
// multiple of the alignment of tensors.
func Span(heads []tensor.Tensor) int {
	total := 0
	for _, h := range heads {
		total += padded(h)
	}
	return total
}

// assignMemory sets the bytes of every tensor to a part of memory, which must have at least
// Span(heads) bytes, and returns the rest of memory.
func assignMemory(memory []byte, heads []tensor.Tensor) []byte {
	for i, h := range heads {
		n := h.Count() * h.DType.Size()
		heads[i].Bytes = memory[:n:n]
		memory = memory[padded(h):]
	}
	return memory
}

// padded returns the bytes of t, rounded up to the alignment of tensors.
func padded(t tensor.Tensor) int {
	n := t.Count() * t.DType.Size()
	return (n + tensor.Alignment - 1) &^ (tensor.Alignment - 1)
}
