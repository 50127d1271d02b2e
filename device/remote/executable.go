package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/tensor"
)

// executable is a program loaded by a plugin.
//
// The plugin keeps track of the version of its state, of the values retained for a commit, and of
// whether a commit may follow. This side only forwards calls and answers. It knows the program, and
// thus the types of all results. It allocates memory for results, and the session refuses an answer
// with tensors of other types.
type executable struct {
	session *session
	program *graph.Program
	number  uint32            // identifies the executable to the plugin
	limits  map[string]limits // limits for each function

	mu    sync.Mutex
	needs device.Needs
	once  sync.Once
	free  messagePool // memory for outputs
}

var _ device.Reuser = (*executable)(nil)

// newExecutable returns the executable for a program that the plugin has loaded.
func newExecutable(s *session, p *graph.Program, l *pb.Loaded) *executable {
	x := &executable{session: s, program: p, number: l.GetExecutable(), limits: map[string]limits{}}
	for _, f := range p.Functions {
		x.limits[f.Name] = limitsOf(f)
	}
	x.needs = device.Needs{Fixed: l.GetFixed(), PerRow: l.GetPerRow()}
	return x
}

// Needs implements device.Executable.
func (x *executable) Needs() device.Needs {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.needs
}

// Grow implements device.Executable.
func (x *executable) Grow(ctx context.Context, c device.Capacity) error {
	grow := &pb.Grow{Executable: x.number, Capacity: wire.EncodeCapacity(c)}
	m := &pb.Message{Body: &pb.Message_Grow{Grow: grow}}
	m, _, err := x.session.do(ctx, &call{name: "Grow", body: m})
	if err != nil {
		return err
	}
	l := m.GetLoaded()
	if err := x.session.answer("Grow", l != nil, l.GetError(), m); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.needs = device.Needs{Fixed: l.GetFixed(), PerRow: l.GetPerRow()}
	return nil
}

// Read implements device.Executable. If the program does not have the name, its type is unknown, but
// the call is sent anyway: the device returns the error.
func (x *executable) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	c := &call{name: "Read " + name}
	c.body = &pb.Message{Body: &pb.Message_Read{Read: &pb.Read{Executable: x.number, State: name}}}
	for _, s := range x.program.State {
		if s.Name == name {
			c.result = []tensor.Tensor{{DType: s.DType, Shape: s.Shape}}
		}
	}
	m, out, err := x.session.do(ctx, c)
	if err != nil {
		return tensor.Tensor{}, err
	}
	d := m.GetDone()
	if err := x.session.answered(c, d != nil, d.GetError(), m, len(out)); err != nil {
		return tensor.Tensor{}, err
	}
	return out[0], nil
}

// Run implements device.Executable.
func (x *executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	c := &call{name: "Run " + s.Function, tensors: s.Inputs, limits: x.limits[s.Function], rows: s.Rows,
		free: &x.free}
	c.progress = c.limits.schedule.Begin(s.Number)
	c.body = &pb.Message{Body: &pb.Message_Run{Run: &pb.Run{
		Executable: x.number, Function: s.Function, Step: s.Number, Rows: wire.Numbers[int64](s.Rows),
		Profile: s.Profile, Last: s.Last, Slot: uint32(s.Slot), Replicas: wire.Numbers[int64](s.Replicas),
	}}}
	var err error
	if c.result, err = x.outputs(s); err != nil {
		return device.Outcome{}, device.Errorf(x.session.name, c.name, device.Invalid, "%w", err)
	}
	began := time.Now()
	m, out, err := x.session.do(ctx, c)
	if err != nil {
		return device.Outcome{}, err
	}
	wall := time.Since(began)
	o := m.GetOutcome()
	if err := x.session.answered(c, o != nil, o.GetError(), m, len(out)); err != nil {
		return device.Outcome{}, err
	}
	if err := c.limits.counts.Check(out, s.Rows); err != nil {
		return device.Outcome{}, x.session.wrong(c.name, err)
	}
	outcome := device.Outcome{Outputs: out, Blocked: time.Duration(o.GetBlocked()),
		Took: time.Duration(o.GetTook()), Nodes: wire.Numbers[time.Duration](o.GetNodes())}
	correctTimes(&outcome, wall)
	if x.session.peer.link().Machine != "" {
		countSending(&outcome, wall, time.Duration(c.waited.Load()))
	}
	return outcome, nil
}

// outputs returns the types of the results of a run of s. A function that does not exist
// has no results; the device reports the error.
func (x *executable) outputs(s device.Step) ([]tensor.Tensor, error) {
	f := x.program.Function(s.Function)
	if f == nil {
		return nil, nil
	}
	rows := 0
	for _, n := range s.Rows {
		rows += n
	}
	var out []tensor.Tensor
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		t := f.Values[o.Value].Type
		shape := t.Sized(rows, len(s.Rows))
		if err := tensor.CheckShape(t.DType, shape); err != nil {
			return nil, fmt.Errorf("rows %v: output %s: %w", s.Rows, o.Name, err)
		}
		out = append(out, tensor.Tensor{DType: t.DType, Shape: shape})
	}
	return out, nil
}

// Commit implements device.Executable. A commit that is sent again after its answer was lost does
// nothing: the plugin is at the next version already.
func (x *executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	in := &pb.Commit{Executable: x.number, Version: uint64(v)}
	for name, value := range h {
		in.Hyper = append(in.Hyper, &pb.Hyper{Name: name, Value: value})
	}
	slices.SortFunc(in.Hyper, func(a, b *pb.Hyper) int { return cmp.Compare(a.Name, b.Name) })
	return x.session.callDone(ctx, "Commit", &pb.Message{Body: &pb.Message_Commit{Commit: in}})
}

// Close implements device.Executable. A device that is gone has freed it.
func (x *executable) Close() (err error) {
	x.once.Do(func() {
		m := &pb.Message{Body: &pb.Message_Unload{Unload: &pb.Unload{Executable: x.number}}}
		ctx, cancel := awake.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		err = x.session.callDone(ctx, "Close", m)
		if x.session.gone() {
			err = nil
		}
	})
	return err
}
