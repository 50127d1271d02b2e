package gpu

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Executable is a loaded program and its state.
type Executable struct {
	device    *Device
	program   *graph.Program
	states    map[string]*state
	functions map[string]*function
	rooms     rooms
	constants []*constant
	kept      map[string]*value // what train keeps for commit, by name
	owner     *room             // for every row its replica
	starts    *room             // for every replica its first row, and how many it has
	cuts      map[int]*cut      // by rows of a part
	told      []int             // rows of each replica, as the device knows them; nil: it knows none
	notFinite *room             // a word: whether an update of commit is infinite or NaN; nil without one

	capacity device.Capacity
	version  device.Version
	lastKept device.Kept
	closed   bool
}

// function is a lowered function.
type function struct {
	*graph.Function
	values []*value
	steps  []step
	ends   map[int]graph.Value // steps behind which a node is done, by its first result
}

// load lowers p.
func (d *Device) load(p *graph.Program, c device.Capacity) (*Executable, error) {
	e := &Executable{device: d, program: p, states: map[string]*state{}, functions: map[string]*function{},
		kept: map[string]*value{}, cuts: map[int]*cut{}}
	if err := device.CheckProgram(d.info.Name, p); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, d.fail("Load", device.Invalid, "%w", err)
	}
	if err := e.prepare(c); err != nil {
		e.free()
		return nil, err
	}
	return e, nil
}

// prepare makes the state, lowers the functions and takes the memory.
func (e *Executable) prepare(c device.Capacity) error {
	if err := e.declare(); err != nil {
		return err
	}
	e.owner, e.starts = e.rooms.own(graph.Rows, 4), e.rooms.own(graph.Replica, 8)
	var refused device.Refused
	for _, fn := range e.program.InOrder() {
		refused.Nodes = append(refused.Nodes, e.lower(fn)...)
	}
	if len(refused.Nodes) > 0 {
		return e.device.fail("Load", device.Unsupported, "%w", &refused)
	}
	for _, k := range e.constants {
		if err := k.place(e.device.driver); err != nil {
			return e.device.wrap("Load", err)
		}
	}
	return e.grow("Load", c)
}

// begin starts a call.
func (e *Executable) begin(ctx context.Context, call string) (context.Context, func(), error) {
	ctx, done, err := e.device.calls.Begin(ctx, call)
	if err == nil && e.closed {
		done()
		return nil, nil, e.device.fail(call, device.Invalid, "the executable is closed")
	}
	return ctx, done, err
}

// Close frees the executable.
func (e *Executable) Close() error {
	e.device.calls.Between(e.free)
	return nil
}

// free gives all memory back. What the driver says to that nobody can mend.
func (e *Executable) free() {
	if e.closed {
		return
	}
	var all []Buffer
	for _, s := range e.states {
		all = append(all, s.buffer)
	}
	for _, r := range e.rooms.all {
		all = append(all, r.buffer)
	}
	for _, k := range e.constants {
		all = append(all, k.buffer)
	}
	for _, b := range all {
		if b != 0 {
			_ = e.device.driver.Free(b)
		}
	}
	e.closed, e.states, e.functions, e.rooms = true, nil, nil, rooms{}
	e.device.loaded = slices.DeleteFunc(e.device.loaded, func(x *Executable) bool { return x == e })
}
