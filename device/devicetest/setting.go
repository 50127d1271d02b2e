package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// setting is a function of a program with everything that a run of the function needs.
type setting struct {
	program  *graph.Program
	function string
	state    map[string]tensor.Tensor
	rows     []int // number of rows of each replica
	inputs   []tensor.Tensor
	tol      bound
}

// newSetting returns a setting without a program, which the caller must add.
func newSetting(name string, tol bound) *setting {
	return &setting{program: &graph.Program{Name: name}, function: name, rows: replicaRows,
		state: map[string]tensor.Tensor{}, tol: tol}
}

// capacity is the capacity that settings are loaded with.
var capacity = device.Capacity{Rows: 64, Replicas: 16}

// load loads the program and writes the state.
func (s *setting) load(ctx context.Context, d device.Device) (device.Executable, error) {
	x, err := d.Load(ctx, s.program, capacity.With(device.Capacity{Rows: sum(s.rows), Replicas: len(s.rows)}))
	if err != nil {
		return nil, err
	}
	return x, s.write(ctx, x)
}

func (s *setting) write(ctx context.Context, x device.Executable) error {
	for _, st := range s.program.State {
		if t, ok := s.state[st.Name]; ok {
			if err := x.Write(ctx, st.Name, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs the function once on an executable.
func (s *setting) run(ctx context.Context, x device.Executable) ([]tensor.Tensor, error) {
	o, err := x.Run(ctx, s.step(0))
	if err != nil {
		return nil, err
	}
	return o.Outputs, s.checkOutputs(ctx, o.Outputs)
}

func (s *setting) step(number uint64) device.Step {
	return device.Step{Function: s.function, Number: number, Rows: s.rows, Inputs: s.inputs}
}

// outputs returns the types of the outputs of a run.
func (s *setting) outputs() []graph.Type {
	var types []graph.Type
	f := s.program.Function(s.function)
	for _, o := range f.Outputs {
		if !o.Keep {
			types = append(types, f.Values[o.Value].Type)
		}
	}
	return types
}

// checkOutputs checks the number, types and shapes of the outputs of a run, and that they are
// rounded like stored values.
func (s *setting) checkOutputs(ctx context.Context, got []tensor.Tensor) error {
	want := s.outputs()
	if len(got) != len(want) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for i, t := range want {
		if w := tensor.Describe(t.DType, s.shape(t)); got[i].String() != w {
			return fmt.Errorf("output %d is %v, want %s", i, got[i], w)
		}
		if err := checkStored(ctx, t, got[i]); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
	}
	return nil
}

// shape returns the shape of a tensor of type t in this setting.
func (s *setting) shape(t graph.Type) []int { return t.Sized(sum(s.rows), len(s.rows)) }

func sum(list []int) int {
	n := 0
	for _, v := range list {
		n += v
	}
	return n
}

// ofReplicas returns the setting of a device that holds some of the replicas.
func (s *setting) ofReplicas(replicas ...int) *setting {
	h := *s
	h.rows, h.inputs = nil, nil
	for _, r := range replicas {
		h.rows = append(h.rows, s.rows[r])
	}
	f := s.program.Function(s.function)
	for i, v := range f.Inputs {
		h.inputs = append(h.inputs, s.selectReplicas(f.Values[v].Type.Kind, s.inputs[i], replicas))
	}
	return &h
}

// selectReplicas returns the elements of t that belong to some replicas.
func (s *setting) selectReplicas(k graph.Kind, t tensor.Tensor, replicas []int) tensor.Tensor {
	if k == graph.Whole {
		return t
	}
	var chunks []tensor.Tensor
	for _, r := range replicas {
		from, to := r, r+1
		if k == graph.Rows {
			from, to = sum(s.rows[:r]), sum(s.rows[:r+1])
		}
		chunks = append(chunks, t.Rows(from, to))
	}
	return join(t, chunks)
}

// join concatenates chunks along the first axis; like gives type and shape.
func join(like tensor.Tensor, chunks []tensor.Tensor) tensor.Tensor {
	shape := append([]int{0}, like.Shape[1:]...)
	for _, p := range chunks {
		shape[0] += p.Shape[0]
	}
	out := tensor.New(like.DType, shape...)
	at := 0
	for _, p := range chunks {
		at += copy(out.Bytes[at:], p.Bytes)
	}
	return out
}

// reference runs the setting on ref.
func (s *setting) reference(ctx context.Context) ([]tensor.Tensor, error) {
	want, err := s.onRef(ctx, device.Options{Precision: precisionOf(ctx)})
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	return want, nil
}
