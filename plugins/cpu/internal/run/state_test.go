package run

import (
	"testing"
	"unsafe"

	"github.com/bnctl/bnctl/tensor"
)

// TestImmutableState: a large immutable tensor is kept, not copied, and never written to.
func TestImmutableState(t *testing.T) {
	large, small := tensor.New(tensor.F32, LeastView/4), tensor.New(tensor.F32, 4)
	end := tensor.MarkImmutable(map[string]tensor.Tensor{"large": large, "small": small})
	defer end()
	same := func(s *State, x tensor.Tensor) bool {
		return unsafe.SliceData(s.Bytes()) == unsafe.SliceData(x.Bytes)
	}
	s := State{Value: tensor.Tensor{DType: tensor.F32, Shape: large.Shape}}
	if s.Set(large); !same(&s, large) {
		t.Error("it was copied")
	}
	other := tensor.New(tensor.F32, large.Shape...)
	other.F32()[0] = 1
	if s.Set(other); same(&s, large) || same(&s, other) || s.Value.F32()[0] != 1 || large.F32()[0] != 0 {
		t.Error("another value was written into what is immutable, or kept")
	}
	s.Set(large)
	if s.Detach(); same(&s, large) || len(s.Bytes()) != len(large.Bytes) {
		t.Error("it is not detached")
	}
	few := State{Value: tensor.Tensor{DType: tensor.F32, Shape: small.Shape}}
	if few.Set(small); same(&few, small) {
		t.Error("a small one was kept")
	}
}
