package gpu

import (
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

// declare creates the state. All values are zero.
func (e *executable) declare() error {
	need := 0.0
	for _, s := range e.program.State {
		need += float64(tensor.Count(s.Shape) * s.DType.Size())
	}
	if err := e.backend.checkMemory(need); err != nil {
		return err
	}
	for _, decl := range e.program.State {
		s := &state{State: decl, stamp: 1}
		var err error
		if s.buffer, err = e.backend.driver.Alloc(max(s.size(), 16)); err != nil {
			return err
		}
		e.states[s.Name] = s
		if err := e.backend.driver.Write(s.buffer, 0, make([]byte, s.size())); err != nil {
			return err
		}
	}
	return nil
}

// Write implements lifecycle.Runner.
func (e *executable) Write(name string, t tensor.Tensor) error {
	s := e.states[name]
	s.stamp++
	return e.backend.driver.Write(s.buffer, 0, t.Bytes)
}

// Read implements lifecycle.Runner.
func (e *executable) Read(name string) (tensor.Tensor, error) {
	s := e.states[name]
	t := tensor.New(s.DType, s.Shape...)
	return t, e.backend.read(t.Bytes, s.buffer, 0)
}
