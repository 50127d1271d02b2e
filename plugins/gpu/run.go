package gpu

import (
	"context"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// frame is one run of a function.
type frame struct {
	ctx      context.Context
	exe      *executable
	group    *device.Group // nil: this device holds all replicas
	rows     []int         // number of rows of each replica of this device
	starts   []int         // first row of each replica, then the number of all rows
	number   uint64
	sequence [collective.Lanes]uint64 // number of exchanges so far
	blocked  time.Duration
	args     []any // arguments of the current launch
	profile  *profile
}

// units returns the number of units of a kind in this run.
func (f *frame) units(k graph.Kind) int {
	switch k {
	case graph.Rows:
		return f.starts[len(f.rows)]
	case graph.Replica:
		return len(f.rows)
	}
	return 1
}

// Run implements lifecycle.Runner.
func (e *executable) Run(ctx context.Context, s lifecycle.Step) (out device.Outcome, err error) {
	fn, f := e.functions[s.Function], e.start(ctx, s)
	if s.Profile {
		f.profile = &profile{}
	}
	if err := f.run(fn, s.Inputs); err != nil {
		return out, err
	}
	out.Blocked = f.blocked
	if out.Outputs, err = f.outputs(fn); err != nil {
		return out, err
	}
	if s.Profile {
		out.Nodes, err = f.profile.nodes(e.backend.driver, s.Func)
	}
	return out, err
}

// start prepares a frame for a step.
func (e *executable) start(ctx context.Context, s lifecycle.Step) *frame {
	f := &frame{ctx: ctx, exe: e, group: s.Group, number: s.Number, rows: s.Rows,
		starts: make([]int, len(s.Rows)+1)}
	for i, n := range s.Rows {
		f.starts[i+1] = f.starts[i] + n
	}
	return f
}

// run copies the inputs to the device and runs all steps. If an input has no bytes, the device already has
// the values that the function needs.
func (f *frame) run(fn *function, inputs []tensor.Tensor) error {
	d := f.exe.backend.driver
	for i, id := range fn.Inputs {
		if len(inputs[i].Bytes) == 0 {
			continue
		}
		if err := d.Write(fn.values[id].slot.buffer, 0, inputs[i].Bytes); err != nil {
			return err
		}
	}
	if err := f.uploadRows(); err != nil {
		return err
	}
	if err := f.mark(graph.None); err != nil {
		return err
	}
	for i, s := range fn.steps {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := s.run(f); err != nil {
			return err
		}
		if of, ok := fn.ends[i+1]; ok {
			if err := f.mark(of); err != nil {
				return err
			}
		}
	}
	return d.Wait()
}

// mark records a mark if the run is profiled.
func (f *frame) mark(of graph.Value) error {
	if f.profile == nil {
		return nil
	}
	return f.profile.mark(f.exe.backend.driver, of)
}

// uploadRows writes the number of rows of each replica to the device, unless it has them already.
func (f *frame) uploadRows() error {
	if len(f.rows) == 0 || slices.Equal(f.exe.uploaded, f.rows) {
		return nil
	}
	f.exe.uploaded = nil
	if err := f.upload(); err != nil {
		return err
	}
	f.exe.uploaded = slices.Clone(f.rows)
	return nil
}

func (f *frame) upload() error {
	var owner, starts []int32
	for r, n := range f.rows {
		starts = append(starts, int32(f.starts[r]), int32(n))
		for range n {
			owner = append(owner, int32(r))
		}
	}
	d := f.exe.backend.driver
	if len(starts) > 0 {
		if err := d.Write(f.exe.starts.buffer, 0, tensor.Of(starts, len(starts)).Bytes); err != nil {
			return err
		}
	}
	for _, k := range f.exe.partitions {
		if err := k.upload(f); err != nil {
			return err
		}
	}
	if len(owner) > 0 {
		return d.Write(f.exe.owner.buffer, 0, tensor.Of(owner, len(owner)).Bytes)
	}
	return nil
}

// outputs copies the outputs of a function to the host, except those that are kept for commit.
func (f *frame) outputs(fn *function) (list []tensor.Tensor, err error) {
	for _, o := range fn.Outputs {
		if o.Keep {
			continue
		}
		t, err := f.output(fn.values[o.Value])
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// output copies a value to the host.
func (f *frame) output(v *value) (tensor.Tensor, error) {
	t := tensor.New(v.DType, v.Type.Sized(f.units(graph.Rows), len(f.rows))...)
	if len(t.Bytes) == 0 {
		return t, nil
	}
	return t, f.exe.backend.driver.Read(t.Bytes, v.buffer(), 0)
}
