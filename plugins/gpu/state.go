package gpu

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
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
		n, err := tensor.Size(s.DType, s.Shape)
		if err != nil {
			return e.device.fail("Load", device.Invalid, "state %s: %w", s.Name, err)
		}
		need += float64(n)
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
	end, err := e.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer end()
	s := e.states[name]
	switch {
	case s == nil:
		return e.device.fail("Write", device.Invalid, "no state is called %q", name)
	case t.DType != s.DType || !slices.Equal(t.Shape, s.Shape) || len(t.Bytes) != s.size():
		return e.device.fail("Write", device.Invalid, "state %s is %s, got %v", name,
			tensor.Describe(s.DType, s.Shape), t)
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
	end, err := e.begin(ctx, "Read")
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer end()
	s := e.states[name]
	if s == nil {
		return tensor.Tensor{}, e.device.fail("Read", device.Invalid, "no state is called %q", name)
	}
	t := tensor.New(s.DType, s.Shape...)
	return t, e.device.wrap("Read", e.device.driver.Read(t.Bytes, s.buffer, 0))
}

// checkMemory reports whether the device could have so many bytes.
func (d *Device) checkMemory(call string, want float64) error {
	const mib = 1 << 20
	if total := d.info.MemoryTotal; total > 0 && want > float64(total) {
		return d.fail(call, device.OutOfMemory, "%w", problem.Advise("use a smaller batch",
			"want %.0f MiB, have %d MiB in all", want/mib, total/mib))
	}
	return nil
}

// wrap returns err as an error of this device, keeping its kind; nil stays nil.
func (d *Device) wrap(call string, err error) error { return device.Wrap(d.info.Name, call, err) }
