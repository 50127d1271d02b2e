package gpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// state is a state tensor and the count of its changes.
type state struct {
	graph.State
	buffer Buffer
	stamp  uint64
}

func (s *state) size() int { return tensor.Count(s.Shape) * s.DType.Size() }

// declare makes the state, all zeros.
func (e *Executable) declare() error {
	need := 0.0
	for _, s := range e.program.State {
		need += float64(tensor.Count(s.Shape) * s.DType.Size())
	}
	if err := e.device.checkMemory("Load", need); err != nil {
		return err
	}
	for _, decl := range e.program.State {
		s := &state{State: decl, stamp: 1}
		var err error
		if s.buffer, err = e.device.driver.Alloc(max(s.size(), 16)); err != nil {
			return e.device.wrap("Load", err)
		}
		e.states[s.Name] = s
		if err := e.device.driver.Write(s.buffer, 0, make([]byte, s.size())); err != nil {
			return e.device.wrap("Load", err)
		}
	}
	return nil
}

// Write sets a state tensor.
func (e *Executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	_, done, err := e.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer done()
	s, err := device.StateNamed(e.states, name)
	if err == nil {
		err = device.CheckState(name, s.DType, s.Shape, t)
	}
	if err != nil {
		return e.device.fail("Write", device.Invalid, "%w", err)
	}
	s.stamp++
	return e.device.wrap("Write", e.device.driver.Write(s.buffer, 0, t.Bytes))
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
	s, err := device.StateNamed(e.states, name)
	if err != nil {
		return tensor.Tensor{}, e.device.fail("Read", device.Invalid, "%w", err)
	}
	t := tensor.New(s.DType, s.Shape...)
	return t, e.device.wrap("Read", e.device.driver.Read(t.Bytes, s.buffer, 0))
}
