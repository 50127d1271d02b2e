package cpu

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
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

// declare lists the state, all zeros.
func (e *Executable) declare() error {
	need := 0.0
	for _, s := range e.program.State {
		n, err := tensor.Size(s.DType, s.Shape)
		if err != nil {
			return e.device.fail("Load", device.Invalid, "state %s: %w", s.Name, err)
		}
		need += float64(n)
	}
	if err := e.device.checkMemory("Load", need); err != nil {
		return err
	}
	for _, s := range e.program.State {
		e.states[s.Name] = &state{value: tensor.Tensor{DType: s.DType, Shape: s.Shape}, stamp: 1}
	}
	e.blank = true
	return nil
}

// fillBlank gives memory to what was not written before the first run.
func (e *Executable) fillBlank() {
	if e.blank {
		for _, s := range e.states {
			s.bytes()
		}
		e.blank = false
	}
}

// stateBytes returns the size of all state.
func (e *Executable) stateBytes() (n int) {
	for _, s := range e.states {
		n += s.size()
	}
	return n
}

// Write sets a state tensor.
func (e *Executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	_, end, err := e.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer end()
	s := e.states[name]
	switch {
	case s == nil:
		return e.device.fail("Write", device.Invalid, "no state is called %q", name)
	case t.DType != s.value.DType || !slices.Equal(t.Shape, s.value.Shape) || len(t.Bytes) != s.size():
		return e.device.fail("Write", device.Invalid, "state %s is %v, got %v", name, s.value, t)
	}
	s.set(t)
	return nil
}

// WriteAll sets state tensors, one after the other.
func (e *Executable) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	return device.WriteEach(ctx, e, names, state)
}

// Read returns a copy of a state tensor.
func (e *Executable) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	_, end, err := e.begin(ctx, "Read")
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer end()
	s := e.states[name]
	switch {
	case s == nil:
		return tensor.Tensor{}, e.device.fail("Read", device.Invalid, "no state is called %q", name)
	}
	defer s.rest()
	s.bytes()
	return s.value.Clone(), nil
}

// Close frees the executable.
func (e *Executable) Close() error {
	e.device.mu.Lock()
	defer e.device.mu.Unlock()
	e.free()
	return nil
}

func (e *Executable) free() {
	for _, s := range e.states {
		s.leave()
	}
	e.reserve.free()
	e.closed, e.arena, e.states, e.packs, e.functions = true, nil, nil, nil, nil
}
