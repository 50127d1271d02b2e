package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// Write sets a state tensor.
func (e *Executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	_, done, err := e.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer done()
	s, err := device.StateNamed(e.memory.States, name)
	if err == nil {
		err = device.CheckState(name, s.Value.DType, s.Value.Shape, t)
	}
	if err != nil {
		return e.device.fail("Write", device.Invalid, "%w", err)
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
	_, done, err := e.begin(ctx, "Read")
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer done()
	s, err := device.StateNamed(e.memory.States, name)
	if err != nil {
		return tensor.Tensor{}, e.device.fail("Read", device.Invalid, "%w", err)
	}
	defer s.Rest()
	s.Bytes()
	return s.Value.Clone(), nil
}

// Close frees the executable.
func (e *Executable) Close() error {
	e.device.calls.Between(e.free)
	return nil
}

func (e *Executable) free() {
	e.memory.Free()
	e.closed, e.allocated, e.functions = true, false, nil
}
