package arena

import (
	"github.com/bnctl/bnctl/tensor"
)

// A stamp counts the writes of a state tensor. Values derived from state, for example
// packed weights, store the stamps and are computed again when they differ.

// State is a state tensor and the count of its changes.
type State struct {
	Value tensor.Tensor // it has no bytes until its zeros are first read
	stamp uint64
	file  *tensor.Mapped // the file that Value is a view of, or nil if the state owns the memory
}

// NewState returns a state tensor of zeros.
func NewState(d tensor.DType, shape []int) *State {
	return &State{Value: tensor.Tensor{DType: d, Shape: shape}, stamp: 1}
}

// Stamp returns a number that grows with every change.
func (s *State) Stamp() uint64 { return s.stamp }

// SetChanged records that the elements were written in place.
func (s *State) SetChanged() { s.stamp++ }

// LeastView is the minimum size in bytes of a tensor that is used in a file without copying it. Smaller
// tensors may be read in every run, and should not share pages.
const LeastView = 64 << 10

// Set sets the state to the value of t, which has the same type. A large tensor in a mapped
// file is not copied: weights are packed once, and then not read again.
func (s *State) Set(t tensor.Tensor) {
	s.stamp++
	file, at := tensor.MappedAt(t.Bytes)
	if file == nil || len(t.Bytes) < LeastView || at%tensor.Alignment != 0 {
		s.leave()
		copy(s.Bytes(), t.Bytes)
		return
	}
	file.Retain()
	s.leave()
	s.file, s.Value.Bytes = file, t.Bytes
}

// Bytes returns the elements as bytes. If they were never written, they are zeros.
func (s *State) Bytes() []byte {
	if s.Value.Bytes == nil {
		s.Value = tensor.New(s.Value.DType, s.Value.Shape...)
	}
	return s.Value.Bytes
}

// size returns the length of the elements in bytes.
func (s *State) size() int { return s.Value.Count() * s.Value.DType.Size() }

// Detach moves the state to memory that may be changed, if it is a view of a file.
func (s *State) Detach() {
	if s.file != nil {
		copied := s.Value.Clone()
		s.leave()
		s.Value = copied
	}
}

// leave closes the file that the value is a view of, if there is one, and drops the value.
func (s *State) leave() {
	if s.file != nil {
		_ = s.file.Close() // it can only fail to release memory
		s.file, s.Value.Bytes = nil, nil
	}
}

// Rest releases the physical memory of a value that is part of a file. The system reads the file again when
// the value is next used. s may be nil.
func (s *State) Rest() {
	if s != nil && s.file != nil {
		s.file.DropPages(s.Value.Bytes)
	}
}
