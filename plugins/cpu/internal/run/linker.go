package run

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
)

// Linker makes a function of actions, as a linker makes a program of compiled
// units: it decides which actions run together, and gives every value and every
// piece of temporary memory an address. It has no knowledge of particular operations.
//
//	actions   conv1  relu1  conv2  add  allreduce  sgd     one for each node
//	gather    [conv1  relu1  conv2  add] [allreduce] [sgd]  groups: all workers meet between two
//	link      (conv1 relu1) (conv2 add)                     chains: a part of a row passes through
//	halve     which values of a bf16 program have two bytes per element
//	widen     conversions for actions that need four bytes
//	lay       a slot for every value, from the group that makes it to the last that reads it
type Linker struct {
	machine  *Machine
	memory   *arena.Memory
	fn       *Function
	temps    []temporary
	onLayout []func()
}

// temporary is memory that a node needs while it runs.
type temporary struct {
	node int
	slot *arena.Slot
}

// NewLinker returns a linker for a function with the nodes of f, on a machine. original maps each result of f
// to the original result of its node, before other nodes were fused with it. earlier, unless it is nil, has
// retained values that are inputs of this function.
func NewLinker(machine *Machine, m *arena.Memory, f *graph.Function, original map[graph.Value]graph.Value,
	earlier *Function) *Linker {
	fn := &Function{graph: f, retained: map[string]*Value{}, original: original, earlier: earlier}
	for _, v := range f.Values {
		value := NewValue(v)
		if v.State != "" {
			value.state = m.States[v.State]
		}
		fn.values = append(fn.values, value)
	}
	return &Linker{machine: machine, memory: m, fn: fn}
}

// Value returns the description of a value, which has no place yet.
func (l *Linker) Value(v graph.Value) *Value { return l.fn.values[v] }

// BF16 reports whether v holds bfloat16, in two bytes or in four.
func (l *Linker) BF16(v *Value) bool { return l.machine.Reduced && device.StoredBF16(v.Type) }

// Temp reserves memory for a node while it runs. Its size in bytes is fixed, plus perReplica for each
// replica, plus perRow for each row.
func (l *Linker) Temp(node int, fixed, perReplica, perRow int) *arena.Slot {
	s := &arena.Slot{Fixed: fixed, PerReplica: perReplica, PerRow: perRow}
	l.temps = append(l.temps, temporary{node, s})
	return s
}

// TempValue returns a value of the same type and layout as v, in temporary memory of a node.
func (l *Linker) TempValue(node int, v *Value) *Value {
	t := *v
	t.slot, t.state, t.input, t.local = l.Temp(node, 0, 0, v.size()), nil, -1, false
	return &t
}

// OnLayout registers f to be called when every value has a place in memory.
func (l *Linker) OnLayout(f func()) { l.onLayout = append(l.onLayout, f) }

// earlierValue returns the value that the earlier function retains under a name, or nil.
func (l *Linker) earlierValue(name string) *Value {
	if l.fn.earlier == nil {
		return nil
	}
	return l.fn.earlier.retained[name]
}

// Function returns the function, which is incomplete before Link. If a node was refused, it is never
// linked.
func (l *Linker) Function() *Function { return l.fn }

// Link returns the function of these actions, one for each node. An action is nil if the
// node's work is part of the exchange before it.
func (l *Linker) Link(actions []Action) *Function {
	l.fn.groups = gather(l.fn, actions)
	halve(l)
	for _, g := range l.fn.groups {
		if g.byRows() {
			widen(l, g)
			newChainer(l.fn, g, l.machine.Schedule).link()
		}
	}
	lay(l)
	return l.fn
}
