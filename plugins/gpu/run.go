package gpu

import (
	"context"
	"slices"
	"time"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// frame is one run of a function.
type frame struct {
	ctx      context.Context
	exe      *Executable
	rows     []int // of each replica held
	starts   []int // first row of each replica, then the number of all rows
	number   uint64
	sequence [collective.Lanes]uint64 // counts the exchanges
	blocked  time.Duration
	args     []any // of a launch
	profile  *profile
}

// units returns how many units of a kind the run has.
func (f *frame) units(k graph.Kind) int {
	switch k {
	case graph.Rows:
		return f.starts[len(f.rows)]
	case graph.Replica:
		return len(f.rows)
	}
	return 1
}

// Run runs one function.
func (e *Executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	call := "Run " + s.Function
	end, err := e.begin(ctx, call)
	if err != nil {
		return device.Outcome{}, err
	}
	defer end()
	began := time.Now()
	fn, err := e.check(call, s)
	if err != nil {
		return device.Outcome{}, err
	}
	if s.Function == graph.Train {
		e.hasKept = false
	}
	ctx, done := e.device.whileOpen(ctx)
	defer done()
	f := e.start(ctx, s.Rows)
	f.number = s.Number
	if s.Profile {
		f.profile = &profile{}
	}
	if err := f.run(fn, s.Inputs); err != nil {
		return device.Outcome{}, e.device.wrap(call, err)
	}
	out := device.Outcome{Blocked: f.blocked}
	for _, o := range fn.Outputs {
		if o.Keep {
			continue
		}
		t, err := f.output(fn.values[o.Value])
		if err != nil {
			return device.Outcome{}, e.device.wrap(call, err)
		}
		out.Outputs = append(out.Outputs, t)
	}
	if s.Profile {
		if out.Nodes, err = f.profile.nodes(e.device.driver, fn.Function); err != nil {
			return device.Outcome{}, e.device.wrap(call, err)
		}
	}
	if s.Function == graph.Train {
		e.hasKept, e.keptFor = true, e.version
	}
	out.Took = time.Since(began)
	return out, nil
}

// start prepares a frame for the given rows.
func (e *Executable) start(ctx context.Context, rows []int) *frame {
	f := &frame{ctx: ctx, exe: e, rows: rows, starts: make([]int, len(rows)+1)}
	for r, n := range rows {
		f.starts[r+1] = f.starts[r] + n
	}
	return f
}

// run copies the inputs to the device and runs all steps. Of inputs without
// bytes the device has what it needs.
func (f *frame) run(fn *function, inputs []tensor.Tensor) error {
	d := f.exe.device.driver
	for i, id := range fn.Inputs {
		if len(inputs[i].Bytes) == 0 {
			continue
		}
		if err := d.Write(fn.values[id].room.buffer, 0, inputs[i].Bytes); err != nil {
			return err
		}
	}
	if err := f.tellRows(); err != nil {
		return err
	}
	if err := f.mark(graph.None); err != nil {
		return err
	}
	for i, s := range fn.steps {
		if err := f.ctx.Err(); err != nil {
			return device.Errorf("", "", device.Canceled, "%w", err)
		}
		if f.exe.device.open.Err() != nil {
			return device.Errorf("", "", device.Canceled, "the device is closed")
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

// mark marks a place if the run is profiled.
func (f *frame) mark(of graph.Value) error {
	if f.profile == nil {
		return nil
	}
	return f.profile.mark(f.exe.device.driver, of)
}

// tellRows tells the device which rows each replica has, unless it knows.
func (f *frame) tellRows() error {
	if len(f.rows) == 0 || slices.Equal(f.exe.told, f.rows) {
		return nil
	}
	f.exe.told = nil
	if err := f.tell(); err != nil {
		return err
	}
	f.exe.told = slices.Clone(f.rows)
	return nil
}

func (f *frame) tell() error {
	var owner, starts []int32
	for r, n := range f.rows {
		starts = append(starts, int32(f.starts[r]), int32(n))
		for range n {
			owner = append(owner, int32(r))
		}
	}
	d := f.exe.device.driver
	if len(starts) > 0 {
		if err := d.Write(f.exe.starts.buffer, 0, tensor.Of(starts, len(starts)).Bytes); err != nil {
			return err
		}
	}
	for _, k := range f.exe.cuts {
		if err := k.tell(f); err != nil {
			return err
		}
	}
	if len(owner) > 0 {
		return d.Write(f.exe.owner.buffer, 0, tensor.Of(owner, len(owner)).Bytes)
	}
	return nil
}

// output copies a value to the host.
func (f *frame) output(v *value) (tensor.Tensor, error) {
	t := tensor.New(v.DType, shapeOf(v.Type, f.units(graph.Rows), len(f.rows))...)
	if len(t.Bytes) == 0 {
		return t, nil
	}
	return t, f.exe.device.driver.Read(t.Bytes, v.buffer(), 0)
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

// check validates a step against the function and the capacity.
func (e *Executable) check(call string, s device.Step) (*function, error) {
	bad := func(format string, args ...any) (*function, error) {
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
	if n := e.device.replicas(); fn.exchanges() && n >= 0 && n != len(s.Rows) {
		return bad("rows for %d replicas; the group gives this device %d", len(s.Rows), n)
	}
	return fn, e.checkInputs(call, fn, s, total)
}

func (e *Executable) checkInputs(call string, fn *function, s device.Step, total int) error {
	for i, id := range fn.Inputs {
		v := fn.Values[id]
		want := shapeOf(v.Type, total, len(s.Rows))
		if t := s.Inputs[i]; t.DType != v.Type.DType || !slices.Equal(t.Shape, want) ||
			len(t.Bytes) != tensor.Count(want)*t.DType.Size() {
			return e.device.fail(call, device.Invalid, "input %s is %v, want %s", v.Name, t,
				tensor.Describe(v.Type.DType, want))
		}
	}
	return nil
}

// exchanges reports whether a function exchanges anything.
func (fn *function) exchanges() bool {
	return slices.ContainsFunc(fn.Nodes, func(n graph.Node) bool { return n.Op == graph.AllReduce })
}
