package cpu

import (
	"github.com/bnctl/bnctl/tensor"
)

// state is a state tensor and the count of its changes.
type state struct {
	value tensor.Tensor // without bytes as long as nobody has looked at the zeros
	stamp uint64
	file  *tensor.Mapped // which value is a view of; nil: the memory is its own
}

// leastView is from how many bytes on a tensor in a file is not copied. What
// is smaller may be read in every run, and should not share pages.
const leastView = 64 << 10

// set gives the state the value of t, which has its type. A large tensor in a
// mapped file is not copied: weights are packed once, and then not looked at.
func (s *state) set(t tensor.Tensor) {
	s.stamp++
	file, at := tensor.MappedAt(t.Bytes)
	if file == nil || len(t.Bytes) < leastView || at%tensor.Alignment != 0 {
		s.leave()
		copy(s.bytes(), t.Bytes)
		return
	}
	file.Hold()
	s.leave()
	s.file, s.value.Bytes = file, t.Bytes
}

// bytes returns the elements, zeros if nobody has written them.
func (s *state) bytes() []byte {
	if s.value.Bytes == nil {
		s.value = tensor.New(s.value.DType, s.value.Shape...)
	}
	return s.value.Bytes
}

// size returns the length of the elements in bytes.
func (s *state) size() int { return s.value.Count() * s.value.DType.Size() }

// own gives the state memory of its own, which may be written to.
func (s *state) own() {
	if s.file != nil {
		copied := s.value.Clone()
		s.leave()
		s.value = copied
	}
}

// leave lets go of the file, if there is one, and of the value with it.
func (s *state) leave() {
	if s.file != nil {
		_ = s.file.Close() // what can fail is giving memory back
		s.file, s.value.Bytes = nil, nil
	}
}

// rest gives back the memory that the value takes as part of a file, until
// somebody reads it again.
func (s *state) rest() {
	if s.file != nil {
		s.file.Drop(s.value.Bytes)
	}
}

// rest gives back what a state that lies in a file takes: see state.rest.
func (v *value) rest() {
	if v.state != nil {
		v.state.rest()
	}
}

// changes returns a function that reports whether a value may have changed
// since it was called before: what is no state may always have.
func changes(values ...*value) func() bool {
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
