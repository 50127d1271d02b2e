package cpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// runner is a compiled program. It implements lifecycle.Runner.
type runner struct {
	backend   *backend
	program   *graph.Program
	memory    *arena.Memory
	functions map[string]*run.Function
	capacity  device.Capacity
	allocated bool // memory for that capacity is allocated
}

// load compiles p.
func (b *backend) load(p *graph.Program, c device.Capacity) (*runner, error) {
	r := &runner{backend: b, program: p, memory: arena.NewMemory(p.State), functions: map[string]*run.Function{}}
	if err := checkMemory(float64(r.memory.StateBytes())); err != nil {
		return nil, err
	}
	if err := r.compile(c); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// compile compiles every function and allocates the arena. It compiles train before commit.
func (r *runner) compile(c device.Capacity) error {
	var refused device.Refused
	for _, fn := range r.program.InOrder() {
		compiled, refusals := plan.Compile(&r.backend.machine, r.memory, fn, r.previous(fn.Name), table)
		r.functions[fn.Name] = compiled
		refused.Nodes = append(refused.Nodes, refusals...)
	}
	if len(refused.Nodes) > 0 {
		return &refused
	}
	return r.Grow(c, false)
}

// previous returns the earlier function that retains values for a later one. This is train for commit, and
// train.forward for train.backward. For any other function it returns nil.
func (r *runner) previous(function string) *run.Function {
	switch function {
	case graph.Commit:
		return r.functions[graph.Train]
	case graph.Backward:
		return r.functions[graph.Forward]
	}
	return nil
}

// Write implements lifecycle.Runner.
func (r *runner) Write(name string, t tensor.Tensor) error {
	r.memory.States[name].Set(t)
	return nil
}

// Read implements lifecycle.Runner.
func (r *runner) Read(name string) (tensor.Tensor, error) {
	s := r.memory.States[name]
	defer s.Rest()
	s.Bytes()
	return s.Value.Clone(), nil
}

// View implements lifecycle.ViewRunner.
func (r *runner) View(name string) (tensor.Tensor, error) {
	s := r.memory.States[name]
	s.Bytes()
	return s.Value, nil
}

var _ lifecycle.ViewRunner = (*runner)(nil)

// Reuse implements device.Reuser.
func (r *runner) Reuse(outputs []tensor.Tensor) { r.memory.Reuse(outputs) }

// Spent implements lifecycle.SlotRunner.
func (r *runner) Spent(outputs []tensor.Tensor) { r.memory.Spent(outputs) }

// Drop implements lifecycle.SlotRunner.
func (r *runner) Drop() { r.memory.Drop() }

// Forget implements lifecycle.SlotRunner.
func (r *runner) Forget() { r.memory.Forget() }

// Close implements lifecycle.Runner.
func (r *runner) Close() {
	r.memory.Free()
	r.allocated, r.functions = false, nil
}
