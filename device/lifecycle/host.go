package lifecycle

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Func computes a function of a program with state in the memory of the host. s.Inputs has
// all inputs, also for graph.Commit. state has the state tensors by name. The Func must not
// change it.
type Func func(ctx context.Context, s Step, state map[string]tensor.Tensor) (Result, error)

// Result is the result of a Func. The Func must not use the tensors afterwards.
type Result struct {
	Outputs []tensor.Tensor // outputs in order, including those that graph.Train keeps
	Updates []tensor.Tensor // updates of graph.Commit, in order
	Blocked time.Duration   // see device.Outcome
	Nodes   []time.Duration // see device.Outcome
}

// hostRunner is a Runner with its state in the memory of the host.
type hostRunner struct {
	program  *graph.Program
	run      Func
	state    map[string]tensor.Tensor
	retained map[string]tensor.Tensor // values that graph.Train has kept, by name
}

// NewHostRunner returns a Runner of p that stores the state, and the values that
// graph.Train keeps, as tensors in the memory of the host. Its Commit rejects updates that
// are not finite: a device with these Runners has the feature device.FiniteUpdates.
func NewHostRunner(p *graph.Program, run Func) Runner {
	r := &hostRunner{program: p, run: run, state: map[string]tensor.Tensor{}}
	for _, s := range p.State {
		r.state[s.Name] = tensor.New(s.DType, s.Shape...)
	}
	return r
}

// Run implements Runner.
func (r *hostRunner) Run(ctx context.Context, s Step) (device.Outcome, error) {
	result, err := r.run(ctx, s, r.state)
	if err != nil {
		return device.Outcome{}, err
	}
	retained, out := map[string]tensor.Tensor{}, device.Outcome{Blocked: result.Blocked, Nodes: result.Nodes}
	for i, o := range s.Func.Outputs {
		if o.Keep {
			retained[o.Name] = result.Outputs[i]
		} else {
			out.Outputs = append(out.Outputs, result.Outputs[i])
		}
	}
	if s.Func.Name == graph.Train {
		r.retained = retained
	}
	return out, nil
}

// Commit implements Runner.
func (r *hostRunner) Commit(ctx context.Context, s Step) error {
	for i, id := range s.Func.Inputs {
		if value, ok := r.retained[s.Func.Values[id].Name]; ok {
			s.Inputs[i] = value
		}
	}
	result, err := r.run(ctx, s, r.state)
	if err != nil {
		return err
	}
	for i, u := range s.Func.Updates {
		if err := device.Finite(u.State, result.Updates[i]); err != nil {
			return Errorf(device.NonFinite, "%w", err)
		}
	}
	for i, u := range s.Func.Updates {
		r.state[u.State] = result.Updates[i]
	}
	return nil
}

// Needs implements Runner. It counts the state, and eight bytes for each element of the values of kind
// rows in the largest function, as if a run kept all values.
func (r *hostRunner) Needs() device.Needs {
	var n device.Needs
	for _, t := range r.state {
		n.Fixed += int64(len(t.Bytes))
	}
	for _, f := range r.program.Functions {
		var row int64
		for _, v := range f.Values {
			if v.Type.Kind == graph.Rows {
				row += 8 * int64(tensor.Count(v.Type.Shape))
			}
		}
		n.PerRow = max(n.PerRow, row)
	}
	return n
}

// Grow implements Runner. It does nothing: a run allocates memory as needed.
func (r *hostRunner) Grow(device.Capacity, bool) error { return nil }

// Read implements Runner.
func (r *hostRunner) Read(name string) (tensor.Tensor, error) { return r.state[name].Clone(), nil }

// Write implements Runner.
func (r *hostRunner) Write(name string, t tensor.Tensor) error {
	r.state[name] = t.Clone()
	return nil
}

// Close implements Runner.
func (r *hostRunner) Close() { r.state, r.retained = nil, nil }
