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
	profile  *profile
	cover    []collective.Node // nodes of the tree that this device covers, if the function has exchanges
	local    []int             // replicas of this device, likewise
	planned  *[]Launch         // launches are added here instead of being run; nil: they run
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
	if err := f.launchAll(fn, s.Inputs); err != nil {
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

// launchAll copies the inputs to the device and launches all steps. If an input has no bytes, the device
// already has the values that the function needs.
func (f *frame) launchAll(fn *function, inputs []tensor.Tensor) error {
	for i, id := range fn.Inputs {
		if len(inputs[i].Bytes) == 0 {
			continue
		}
		if err := f.exe.backend.driver.Write(fn.values[id].slot.buffer, 0, inputs[i].Bytes); err != nil {
			return err
		}
	}
	if err := f.uploadRows(); err != nil {
		return err
	}
	if fn.exchanges {
		if err := f.uploadTree(); err != nil {
			return err
		}
	}
	for _, c := range fn.changes {
		c.check()
	}
	if err := f.steps(fn); err != nil {
		for _, c := range fn.changes {
			clear(c.stamps) // some of their steps may not have run
		}
		return err
	}
	for _, c := range fn.changes {
		c.ran()
	}
	return nil
}

// steps runs the steps of a function: according to a plan, or one after the other if the run is profiled.
func (f *frame) steps(fn *function) error {
	if f.profile == nil {
		return f.follow(fn)
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
	return nil
}

// mark records a mark of a run that is profiled.
func (f *frame) mark(of graph.Value) error {
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

// outputs waits for all launches and copies the outputs of a function to the host, except those that are
// kept for commit. It returns an error if a label is invalid.
func (f *frame) outputs(fn *function) (list []tensor.Tensor, err error) {
	var transfers []Transfer
	read := func(t tensor.Tensor, from Buffer) tensor.Tensor {
		if len(t.Bytes) > 0 {
			transfers = append(transfers, Transfer{Data: t.Bytes, From: from})
		}
		return t
	}
	marks := make([]tensor.Tensor, len(fn.checks))
	for i, l := range fn.checks {
		marks[i] = read(l.marks(f), l.bad.buffer)
	}
	for _, o := range fn.Outputs {
		if v := fn.values[o.Value]; !o.Keep {
			t := tensor.New(v.DType, v.Type.Sized(f.units(graph.Rows), len(f.rows))...)
			list = append(list, read(t, v.buffer()))
		}
	}
	if err := f.exe.backend.driver.Read(transfers...)(); err != nil {
		return nil, err
	}
	for i, l := range fn.checks {
		if err := l.check(f, marks[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
