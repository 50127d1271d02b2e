package gpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// executable is a lowered program and its state. It implements lifecycle.Runner.
type executable struct {
	backend    *backend
	program    *graph.Program
	states     map[string]*state
	functions  map[string]*function
	slots      slots
	constants  []*constant
	none       *constant         // an epilogue without steps
	retained   map[string]*value // values that train retains for commit, by name
	owner      *slot             // the replica of each row
	starts     *slot             // the first row and the number of rows of each replica
	partitions []*partition
	tree       *slot   // for each node of the tree: its first replica here, and their number
	partials   *slot   // values at the nodes in tree, to be exchanged with other devices
	uploaded   []int   // number of rows of each replica on the device; nil: not written yet
	nodes      []int32 // contents of tree on the device; nil: not written yet
	notFinite  *slot   // flag that an update is infinite or NaN; nil if nothing is checked
	capacity   device.Capacity
	plans      plans
}

// function is a lowered function.
type function struct {
	*graph.Function
	values    []*value
	steps     []step
	checks    []*labels           // checks of labels after a run
	changes   []*onChange         // the steps that run on a change
	exchanges bool                // a step is an exchange
	ends      map[int]graph.Value // number of steps after which a node is done; its first result
}

// prepare creates the state, lowers the functions and allocates the memory.
func (e *executable) prepare(c device.Capacity) error {
	if err := e.declare(); err != nil {
		return err
	}
	e.owner, e.starts = e.slots.reserve(graph.Rows, 4), e.slots.reserve(graph.Replica, 8)
	e.tree, e.partials = e.slots.reserve(graph.Replica, 8), e.slots.reserve(graph.Replica, 0)
	e.none = (&compiler{exe: e}).table([]int{0})
	var refused device.Refused
	for _, fn := range e.program.InOrder() {
		refused.Nodes = append(refused.Nodes, e.lower(fn)...)
	}
	if len(refused.Nodes) > 0 {
		return &refused
	}
	for _, k := range e.constants {
		if err := k.upload(e.backend.driver); err != nil {
			return err
		}
	}
	return e.Grow(c, false)
}

// Close implements lifecycle.Runner: it frees all memory. Errors of the driver are ignored
// because the caller cannot act on them.
func (e *executable) Close() {
	e.plans.drop(e.backend.driver)
	var all []Buffer
	for _, decl := range e.program.State {
		if s := e.states[decl.Name]; s != nil {
			all = append(all, s.buffer)
		}
	}
	for _, r := range e.slots.all {
		all = append(all, r.buffer)
	}
	for _, k := range e.constants {
		all = append(all, k.buffer)
	}
	for _, b := range all {
		if b != 0 {
			_ = e.backend.driver.Free(b)
		}
	}
	e.states, e.functions, e.slots, e.constants = nil, nil, slots{}, nil
}
