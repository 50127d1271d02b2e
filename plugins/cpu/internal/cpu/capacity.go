package cpu

import (
	"context"
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Needs returns the memory of state, packed weights and arena.
func (e *Executable) Needs() device.Needs {
	fixed := int64(e.StateBytes())
	for _, p := range e.Packs {
		fixed += p.Bytes()
	}
	const many = 1 << 20 // rows, so that what does not grow with them vanishes
	replicas := max(e.capacity.Replicas, 1)
	none := e.layOut(device.Capacity{Replicas: replicas})
	some := e.layOut(device.Capacity{Rows: many, Replicas: replicas})
	e.layOut(e.capacity)
	return device.Needs{Fixed: fixed + int64(none), PerRow: int64((some - none + many - 1) / many)}
}

// layOut places all slots for a capacity and returns the size of the arena:
// what is kept, behind it what the functions share, then the lanes.
func (e *Executable) layOut(c device.Capacity) int {
	kept := 0
	for _, s := range e.Kept {
		s.Offset = kept
		kept += s.Bytes(c)
	}
	most := 0
	e.Lane = 0
	for _, fn := range e.functions {
		most = max(most, run.Place(fn.Slots, c))
		for _, g := range fn.Groups {
			e.Lane = max(e.Lane, run.Place(g.Local, c))
		}
	}
	for _, fn := range e.functions {
		for _, s := range fn.Slots {
			s.Offset += kept
		}
	}
	e.Lanes = kept + most
	return e.Lanes + e.Lane*run.FewRows*len(e.device.Pool.Workers)
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
	if e.Arena != nil && c == e.capacity {
		return nil
	}
	if need := e.atMost(c); need > math.MaxInt/4 {
		return e.device.fail(call, device.OutOfMemory, "%d rows in %d replicas want %.3g bytes",
			c.Rows, c.Replicas, need)
	}
	size := e.layOut(c)
	if err := e.device.checkMemory(call, float64(size-len(e.Arena))); err != nil {
		e.layOut(e.capacity)
		return err
	}
	arena := run.NewArena(size)
	if e.kept.Has { // what is kept lies first and has the same place for every capacity
		copy(arena, e.Arena[:e.keptBytes()])
	}
	e.Arena, e.capacity = arena, c
	return nil
}

// keptBytes returns the size of what is kept, which does not depend on capacity.
func (e *Executable) keptBytes() int {
	n := 0
	for _, s := range e.Kept {
		n += s.Bytes(e.capacity)
	}
	return n
}

// atMost bounds the size of the arena without the danger of an overflow.
func (e *Executable) atMost(c device.Capacity) float64 {
	n := 0.0
	for _, fn := range e.functions {
		for _, s := range fn.Slots {
			n += float64(s.Fixed) + float64(s.PerReplica)*float64(c.Replicas) + float64(s.PerRow)*float64(c.Rows)
		}
		for _, g := range fn.Groups {
			for _, s := range g.Local {
				n += float64(s.Fixed) * float64(run.FewRows*len(e.device.Pool.Workers))
			}
		}
	}
	return n
}
