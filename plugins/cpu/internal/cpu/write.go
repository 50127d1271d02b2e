package cpu

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

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
		e.States[s.Name] = &run.State{Value: tensor.Tensor{DType: s.DType, Shape: s.Shape}, Stamp: 1}
	}
	e.Blank = true
	return nil
}

// Write sets a state tensor.
func (e *Executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	_, end, err := e.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer end()
	s := e.States[name]
	switch {
	case s == nil:
		return e.device.fail("Write", device.Invalid, "no state is called %q", name)
	case t.DType != s.Value.DType || !slices.Equal(t.Shape, s.Value.Shape) || len(t.Bytes) != s.Size():
		return e.device.fail("Write", device.Invalid, "state %s is %v, got %v", name, s.Value, t)
	}
	s.Set(t)
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
	s := e.States[name]
	switch {
	case s == nil:
		return tensor.Tensor{}, e.device.fail("Read", device.Invalid, "no state is called %q", name)
	}
	defer s.Rest()
	s.Bytes()
	return s.Value.Clone(), nil
}

// Close frees the executable.
func (e *Executable) Close() error {
	e.device.mu.Lock()
	defer e.device.mu.Unlock()
	e.free()
	return nil
}

func (e *Executable) free() {
	for _, s := range e.States {
		s.Leave()
	}
	e.Reserve.Free()
	e.closed, e.Arena, e.States, e.Packs, e.functions = true, nil, nil, nil, nil
}
