package run

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
)

// An exchange is started first and awaited later, so that the device computes in between:
//
// 	moments     begin | groups that do not need them | await | normalise ...
// 	gradients   begin | rest of the backward pass ............... awaitAll, at the end
//
// Each of the two lanes is ordered separately, in the same order on all members.

// Exchange is an action that communicates with the other devices of the group. It starts an
// all-reduce of values of the replicas, and is awaited later (await, awaitAll). The partial
// sums that this device holds are combined along the canonical tree before they are sent.
type Exchange struct {
	Storage
	lane   collective.Lane
	nodes  []int // indices of consecutive all-reduce nodes
	values []Reduced
}

// Reduced is one value that an exchange sums or merges.
type Reduced struct {
	From, To *Value
	Op       collective.Op
	Summed   bool // the partial sums are complete already
	free     bool // nothing reads From after the exchange, so it may be overwritten
}

// Exchange returns the action for all-reduces that run together. An exchange in the lane of
// gradients is awaited at the end of the function, and one in the lane of moments before
// the first node that reads it.
func (l *Linker) Exchange(lane collective.Lane, nodes []int, values []Reduced) *Exchange {
	e := &Exchange{lane: lane, nodes: nodes, values: values}
	l.OnLayout(func() { e.lay(l.fn, l.memory) })
	return e
}

// lay extends the lifetimes of values until the exchange is complete.
func (e *Exchange) lay(fn *Function, m *arena.Memory) {
	mine := func(g *group) bool { return slices.Contains(g.nodes, e.nodes[0]) }
	begins := 1 + slices.IndexFunc(fn.groups, mine)
	end := len(fn.groups) + 1
	for i := range e.values {
		v := &e.values[i]
		from, to := v.From.slot, v.To.slot
		v.free = from != nil && from.To == to.From && !m.Keeps(from)
		if e.lane == collective.Moments {
			to.From = begins // the layout determines the group that awaits the exchange
			continue
		}
		to.To = end // the exchange may still be in progress at the end of the function
		if from != nil {
			from.To = end
		}
	}
}

// await waits for the exchange of moments that is in progress.
func (f *Frame) await() error {
	wait := f.waiting
	if f.waiting = nil; wait == nil { // this device is not in a group with others
		return nil
	}
	defer f.block(time.Now())
	return wait()
}

// awaitAll waits for all exchanges that are in progress.
func (f *Frame) awaitAll() error {
	first := f.await()
	defer f.block(time.Now())
	for _, wait := range f.pending {
		if err := wait(); first == nil {
			first = err
		}
	}
	f.pending = nil
	return first
}

// block adds the time since began to the time during which the run was blocked.
func (f *Frame) block(began time.Time) { f.blocked += time.Since(began) }

// Members returns the number of replicas of the group, and the replicas that this device holds. A device
// that has not joined a group holds all replicas of its program.
func (f *Frame) Members() (leaves int, local []int) {
	if g := f.machine.Group; g != nil {
		return g.Leaves(), g.Replicas[g.Rank]
	}
	for r := range f.Rows {
		local = append(local, r)
	}
	return len(f.Rows), local
}
