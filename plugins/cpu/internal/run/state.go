package run

import (
	"github.com/bnctl/bnctl/tensor"
)

// A stamp counts the writes of a state tensor. What is derived from state,
// such as packed weights, keeps the stamps and is made again when they differ.

// State is a state tensor and the count of its changes.
type State struct {
	Value tensor.Tensor // without bytes as long as nobody has looked at the zeros
	stamp uint64
	file  *tensor.Mapped // which value is a view of; nil: the memory is its own
}

// LeastView is from how many bytes on a tensor in a file is not copied. What
// is smaller may be read in every run, and should not share pages.
const LeastView = 64 << 10

// Set gives the state the value of t, which has its type. A large tensor in a
// mapped file is not copied: weights are packed once, and then not looked at.
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

// Bytes returns the elements, zeros if nobody has written them.
func (s *State) Bytes() []byte {
	if s.Value.Bytes == nil {
		s.Value = tensor.New(s.Value.DType, s.Value.Shape...)
	}
	return s.Value.Bytes
}

// size returns the length of the elements in bytes.
func (s *State) size() int { return s.Value.Count() * s.Value.DType.Size() }

// Detach copies the state into memory that may be written to.
func (s *State) Detach() {
	if s.file != nil {
		copied := s.Value.Clone()
		s.leave()
		s.Value = copied
	}
}

// leave lets go of the file, if there is one, and of the value with it.
func (s *State) leave() {
	if s.file != nil {
		_ = s.file.Close() // what can fail is giving memory back
		s.file, s.Value.Bytes = nil, nil
	}
}

// Rest gives back the memory that the value takes as part of a file, until
// somebody reads it again.
func (s *State) Rest() {
	if s.file != nil {
		s.file.DropPages(s.Value.Bytes)
	}
}

// Rest gives back what a state that lies in a file takes: see State.Rest.
func (v *Value) Rest() {
	if v.state != nil {
		v.state.Rest()
	}
}

// Changes returns a function that reports whether a value may have changed
// since it was called before: what is no state may always have.
func Changes(values ...*Value) func() bool {
	stamps := make([]uint64, len(values))
	return func() bool {
		changed := false
		for i, v := range values {
			if v.state == nil || stamps[i] != v.state.stamp {
				changed = true
			}
			if v.state != nil {
				stamps[i] = v.state.stamp
			}
		}
		return changed
	}
}
