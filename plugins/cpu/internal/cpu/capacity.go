package cpu

import (
	"context"
	"math"

	"github.com/bnctl/bnctl/device"
)

// Needs returns the memory of state, packed weights and arena.
func (e *Executable) Needs() device.Needs {
	fixed := int64(e.memory.StateBytes()) + e.memory.PackedBytes()
	const many = 1 << 20 // rows, so that what does not grow with them vanishes
	replicas := max(e.capacity.Replicas, 1)
	none := e.layOut(device.Capacity{Replicas: replicas})
	some := e.layOut(device.Capacity{Rows: many, Replicas: replicas})
	e.layOut(e.capacity)
	return device.Needs{Fixed: fixed + int64(none), PerRow: int64((some - none + many - 1) / many)}
}

// layOut places all slots for a capacity and returns the size of the arena.
func (e *Executable) layOut(c device.Capacity) int {
	return e.memory.Lay(e.functions, c, len(e.device.machine.Pool.Workers))
}

// Grow raises the capacity.
func (e *Executable) Grow(ctx context.Context, c device.Capacity) error {
	_, done, err := e.begin(ctx, "Grow")
	if err != nil {
		return err
	}
	defer done()
	return e.grow("Grow", e.capacity.With(c))
}

func (e *Executable) grow(call string, c device.Capacity) error {
	if e.allocated && c == e.capacity {
		return nil
	}
	if need := e.memory.AtMost(e.functions, c, len(e.device.machine.Pool.Workers)); need > math.MaxInt/4 {
		return e.device.fail(call, device.OutOfMemory, "%d rows in %d replicas want %.3g bytes",
			c.Rows, c.Replicas, need)
	}
	size := e.layOut(c)
	if err := e.device.checkMemory(call, float64(size-e.memory.ArenaBytes())); err != nil {
		e.layOut(e.capacity)
		return err
	}
	e.memory.Allocate(size, e.kept.Has, e.capacity)
	e.allocated, e.capacity = true, c
	return nil
}
