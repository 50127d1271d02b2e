// Package arena is the memory of a program that is loaded on the CPU device: its state, its packed
// weights, and the arena with the values that a run computes. The linker of package run describes the
// values by slots, and Memory places the slots for a capacity.
package arena

import (
	"math/bits"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Memory is the memory of a loaded program: its state, its packed weights,
// and the arena with all values that a run computes.
//
//	arena  | retained | slots of the functions, overlapping | lane 0 | lane 1 | ...
//
// Values that train retains for commit come first, at the same place for every capacity. The
// functions never run at the same time, so their slots may overlap. A lane is the memory of a
// row while it passes through a group.
type Memory struct {
	States map[string]*State

	blank    bool              // true if states may still be without memory
	packs    map[string]Packed // weights as kernels read them, by key
	reserve  reserve           // reserve of memory for packed weights
	passing  passing           // memory for packed weights in a last run, used by one layer after the other
	retained []*Slot           // slots with values that train keeps for commit
	regions  regions           // values retained by the functions of a stage
	arena    []byte
	lanes    int             // offset of the lanes in the arena
	lane     int             // bytes of a lane
	outputs  []tensor.Tensor // outputs that the next run may overwrite
	older    []tensor.Tensor // the same of the run before, because the functions of a stage alternate
}

// Packed is a copy of weights, in the order that a kernel reads. It is made for one filter, and shared by
// the nodes that need this order.
type Packed interface {
	Bytes() int64
}

// NewMemory returns memory for a program with this state. All values are zero, and no
// slots are laid out.
func NewMemory(state []graph.State) *Memory {
	m := &Memory{States: map[string]*State{}, packs: map[string]Packed{}, blank: true}
	m.Forget()
	for _, s := range state {
		m.States[s.Name] = NewState(s.DType, s.Shape)
	}
	m.reserve = newReserve(m.StateBytes())
	return m
}

// Keeps reports whether the contents of a slot outlive a run.
func (m *Memory) Keeps(s *Slot) bool { return s.Area != InArena || slices.Contains(m.retained, s) }

// Retain adds a slot whose contents train keeps for commit.
func (m *Memory) Retain(s *Slot) { m.retained = append(m.retained, s) }

// StateBytes returns the size of all state.
func (m *Memory) StateBytes() (n int) {
	for _, s := range m.States {
		n += s.size()
	}
	return n
}

// ArenaBytes returns the size of the arena, or 0 before it is allocated.
func (m *Memory) ArenaBytes() int { return len(m.arena) }

// PackedBytes returns the size of the packed weights.
func (m *Memory) PackedBytes() (n int64) {
	for _, p := range m.packs {
		n += p.Bytes()
	}
	return n
}

// TouchedBytes returns how many bytes of an arena runs read or write. The arena has the given size, and was
// laid out for this capacity. A gradient that is summed over the replicas is written only once for each
// node of the tree that this device computes.
func (m *Memory) TouchedBytes(functions []*Slots, c device.Capacity, size int) (n int) {
	spans := [][2]int{{m.lanes, size}}
	add := func(s *Slot) {
		written := c
		if s.Summed {
			written.Replicas = bits.OnesCount(uint(c.Replicas))
		}
		spans = append(spans, [2]int{s.offset, s.offset + s.bytes(written)})
	}
	for _, s := range m.retained {
		add(s)
	}
	for _, fn := range functions {
		for _, s := range fn.Arena {
			add(s)
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	end := 0
	for _, s := range spans {
		n += max(0, s[1]-max(s[0], end))
		end = max(end, s[1])
	}
	return n
}

// Packed returns the value that SetPacked has stored under a key, or nil.
func (m *Memory) Packed(key string) Packed { return m.packs[key] }

// SetPacked stores packed weights under a key, so that other nodes can find them.
func (m *Memory) SetPacked(key string, p Packed) { m.packs[key] = p }

// Passing returns memory for n packed weights, with arbitrary contents. The next call overwrites it.
func (m *Memory) Passing(n int) []float32 { return m.passing.take(n) }

// AllowPassing makes later calls of Passing for up to n values possible.
func (m *Memory) AllowPassing(n int) { m.passing.want(n) }

// FillBlank allocates memory for state that was not written before the first run.
func (m *Memory) FillBlank() {
	if m.blank {
		for _, s := range m.States {
			s.Bytes()
		}
		m.blank = false
	}
}

// LanesPerThread is the number of lanes for each thread.
const LanesPerThread = 2

// Lane returns the memory of a lane, starting at slot s.
func (m *Memory) Lane(lane int, s *Slot) []byte { return m.arena[m.lanes+lane*m.lane+s.offset:] }

// Lay places all slots of the functions for a capacity and a number of threads, and
// returns the size of the arena that they need.
func (m *Memory) Lay(functions []*Slots, c device.Capacity, threads int) int {
	retained := 0
	for _, s := range m.retained {
		s.offset = retained
		retained += s.bytes(c)
	}
	most := 0
	m.lane = 0
	for _, fn := range functions {
		most = max(most, assignOffsets(fn.Arena, c))
		for _, group := range fn.Lanes {
			m.lane = max(m.lane, assignOffsets(group, c))
		}
	}
	for _, fn := range functions {
		for _, s := range fn.Arena {
			s.offset += retained
		}
	}
	m.lanes = retained + most
	return m.lanes + m.lane*LanesPerThread*threads
}

// Allocate allocates an arena of size bytes. keep preserves the values that train has
// retained. previous is the capacity that the arena had before.
func (m *Memory) Allocate(size int, keep bool, previous device.Capacity) {
	arena := newArena(size)
	if keep { // retained values come first, at the same place for every capacity
		n := 0
		for _, s := range m.retained {
			n += s.bytes(previous)
		}
		copy(arena, m.arena[:n])
	}
	m.arena = arena
}

// AtMost returns an upper bound of the size of the arena in bytes. It is a float64, so that it cannot
// overflow.
func (m *Memory) AtMost(functions []*Slots, c device.Capacity, threads int) float64 {
	n := 0.0
	for _, fn := range functions {
		for _, s := range fn.Arena {
			n += float64(s.Fixed) + float64(s.PerReplica)*float64(c.Replicas) + float64(s.PerRow)*float64(c.Rows)
		}
		for _, group := range fn.Lanes {
			for _, s := range group {
				n += float64(s.Fixed) * float64(LanesPerThread*threads)
			}
		}
	}
	return n
}

// Reuse allows later calls of Output to return the memory of these outputs.
func (m *Memory) Reuse(outputs []tensor.Tensor) {
	m.outputs, m.older = slices.Clone(outputs), m.outputs
}

// Output returns a tensor with arbitrary contents.
func (m *Memory) Output(d tensor.DType, shape []int) tensor.Tensor {
	for _, from := range []*[]tensor.Tensor{&m.outputs, &m.older} {
		for i, t := range *from {
			if t.DType == d && slices.Equal(t.Shape, shape) {
				*from = slices.Delete(*from, i, i+1)
				return t
			}
		}
	}
	return tensor.New(d, shape...)
}

// Free releases all memory, including the state.
func (m *Memory) Free() {
	for _, s := range m.States {
		s.leave()
	}
	m.reserve.free()
	m.passing.free()
	m.Forget()
	m.arena, m.States, m.packs, m.outputs, m.older = nil, nil, nil, nil, nil
}
