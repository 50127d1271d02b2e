package cpu

import (
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
)

// Needs implements lifecycle.Runner: the memory of state, packed weights, arena, and
// retained values of a stage.
func (r *runner) Needs() device.Needs {
	fixed := int64(r.memory.StateBytes()) + r.memory.PackedBytes()
	const many = 1 << 20 // with so many rows, memory that does not grow with their number is negligible
	needed := func(rows int) int {
		c := r.capacity
		c.Rows, c.Replicas = rows, max(c.Replicas, 1)
		return r.layOut(c) + arena.HeldBytes(r.slots(), c)
	}
	none, some := needed(0), needed(many)
	r.layOut(r.capacity)
	return device.Needs{Fixed: fixed + int64(none), PerRow: int64((some - none + many - 1) / many)}
}

// layOut places all slots for a capacity and returns the size of the arena.
func (r *runner) layOut(c device.Capacity) int {
	return r.memory.Lay(r.slots(), c, r.threads())
}

// slots returns the slots of all functions.
func (r *runner) slots() (list []*arena.Slots) {
	for _, fn := range r.functions {
		list = append(list, fn.Slots())
	}
	return list
}

// Grow implements lifecycle.Runner.
func (r *runner) Grow(c device.Capacity, retained bool) error {
	if r.allocated && c == r.capacity {
		return nil
	}
	if need := r.memory.AtMost(r.slots(), c, r.threads()); need > math.MaxInt/4 {
		return lifecycle.Errorf(device.OutOfMemory, "%d rows in %d replicas want %.3g bytes", c.Rows, c.Replicas,
			need)
	}
	size := r.layOut(c)
	want := arena.HeldBytes(r.slots(), c)
	if r.allocated {
		want += size - r.memory.ArenaBytes() - arena.HeldBytes(r.slots(), r.capacity)
	} else { // state and packed weights get their memory in the first run, before any later growth
		want += r.memory.TouchedBytes(r.slots(), c, size) + r.memory.StateBytes() + r.trainingBytes()
	}
	if err := checkMemory(float64(want)); err != nil {
		r.layOut(r.capacity)
		return err
	}
	r.memory.Allocate(size, retained, r.capacity)
	r.allocated, r.capacity = true, c
	return nil
}

// trainingBytes returns the memory that training needs in addition to state, arena and regions. These are
// packed weights, which are kept, and temporary data on the heap. For predictions, all layers share the
// memory for heavy weights.
func (r *runner) trainingBytes() int {
	if r.functions[graph.Train] == nil && r.functions[graph.Backward] == nil {
		return 0
	}
	packed := int(r.memory.PackedBytes())
	return packed + min(packed, heapBytes)
}

// heapBytes is the memory for inputs, results and garbage of a large network.
const heapBytes = 64 << 20

func (r *runner) threads() int { return len(r.backend.machine.Pool.Workers) }
