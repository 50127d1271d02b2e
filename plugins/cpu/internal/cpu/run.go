package cpu

import (
	"context"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// Run runs one function.
func (e *Executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	call := "Run " + s.Function
	ctx, end, err := e.begin(ctx, call)
	if err != nil {
		return device.Outcome{}, err
	}
	defer end()
	began := time.Now()
	fn, err := e.check(call, s)
	if err != nil {
		return device.Outcome{}, err
	}
	f := e.Start(ctx, &e.device.Machine, s.Rows, s.Inputs)
	f.Number = s.Number
	if s.Profile {
		f.Profile = run.Profile{}
	}
	if s.Function == graph.Train {
		e.hasKept = false
	}
	if err := f.Run(fn); err != nil {
		return device.Outcome{}, e.device.wrap(call, err)
	}
	if s.Function == graph.Train {
		e.hasKept, e.keptFor = true, e.version
	}
	out := device.Outcome{Blocked: f.Blocked, Nodes: f.Profile.Nodes(e.program.Function(s.Function))}
	for _, o := range fn.Outputs {
		if !o.Keep {
			out.Outputs = append(out.Outputs, f.TakeOut(fn.Known[o.Value]))
		}
	}
	out.Took = time.Since(began)
	return out, nil
}

// check validates a step against the function and the capacity.
func (e *Executable) check(call string, s device.Step) (*run.Function, error) {
	bad := func(format string, args ...any) (*run.Function, error) {
		return nil, e.device.fail(call, device.Invalid, format, args...)
	}
	fn := e.functions[s.Function]
	switch {
	case fn == nil:
		return bad("the program has no such function")
	case s.Function == graph.Commit:
		return bad("the function is run by Commit")
	case len(s.Inputs) != len(fn.Inputs):
		return bad("%d inputs, want %d", len(s.Inputs), len(fn.Inputs))
	}
	total := 0
	for r, n := range s.Rows {
		if n < 0 || n > e.capacity.Rows {
			return bad("replica %d has %d rows; the capacity is %d", r, n, e.capacity.Rows)
		}
		total += n
	}
	if total > e.capacity.Rows || len(s.Rows) > e.capacity.Replicas {
		return bad("%d rows in %d replicas; the capacity is %d in %d",
			total, len(s.Rows), e.capacity.Rows, e.capacity.Replicas)
	}
	if n := e.device.replicas(); fn.NeedsGroup() && n >= 0 && n != len(s.Rows) {
		return bad("rows for %d replicas; the group gives this device %d", len(s.Rows), n)
	}
	for i, id := range fn.Inputs {
		v := fn.Values[id]
		want := shapeOf(v.Type, total, len(s.Rows))
		if t := s.Inputs[i]; t.DType != v.Type.DType || !slices.Equal(t.Shape, want) ||
			len(t.Bytes) != tensor.Count(want)*t.DType.Size() {
			return bad("input %s is %v, want %s", v.Name, t, tensor.Describe(v.Type.DType, want))
		}
	}
	return fn, nil
}

// shapeOf returns the shape of a tensor of type t for so many rows and replicas.
func shapeOf(t graph.Type, rows, replicas int) []int {
	switch t.Kind {
	case graph.Rows:
		return append([]int{rows}, t.Shape...)
	case graph.Replica:
		return append([]int{replicas}, t.Shape...)
	}
	return t.Shape
}
