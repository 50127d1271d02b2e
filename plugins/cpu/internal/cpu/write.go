package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// declare lists the state, all zeros.
func (e *Executable) declare() error {
	for _, s := range e.program.State {
		e.States[s.Name] = &run.State{Value: tensor.Tensor{DType: s.DType, Shape: s.Shape}, Stamp: 1}
	}
	e.Blank = true
	return e.device.checkMemory("Load", float64(e.StateBytes()))
}

// Write sets a state tensor.
func (e *Executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	_, done, err := e.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer done()
	s, err := device.StateNamed(e.States, name)
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
	s, err := device.StateNamed(e.States, name)
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
	for _, s := range e.States {
		s.Leave()
	}
	e.Reserve.Free()
	e.Passing.Free()
	e.closed, e.Arena, e.States, e.Packs, e.functions = true, nil, nil, nil, nil
}
