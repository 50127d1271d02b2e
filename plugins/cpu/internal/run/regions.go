package run

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/tensor"
)

// areaOf returns the kind of memory that stores v, a value that the function retains.
func areaOf(function string, v *Value) arena.Area {
	switch {
	case function == graph.Forward:
		return arena.InSlot
	case function == graph.Backward && v.adds:
		return arena.InSums
	case function == graph.Backward:
		return arena.InLeaves
	}
	return arena.InArena
}

// regions returns the areas of the retained values of a function.
func regions(function string) []arena.Area {
	switch function {
	case graph.Forward:
		return []arena.Area{arena.InSlot}
	case graph.Backward:
		return []arena.Area{arena.InLeaves, arena.InSums}
	}
	return nil
}

// hold assigns to the frame the regions that fn fills, and the region of the slot that it reads. It reports
// whether that slot exists.
func (f *Frame) hold(fn *Function, slot int) bool {
	c := device.Capacity{Rows: f.Total(), Replicas: len(f.Rows)}
	if e := fn.earlier; e != nil && len(e.slots.Retained) > 0 {
		if !f.memory.OpenSlot(&f.areas, &e.slots, slot, c) {
			return false
		}
	}
	f.memory.Hold(&f.areas, &fn.slots, c, f.addsAll(fn))
	return true
}

// addsAll reports whether this run adds every output that fn may add to sums.
func (f *Frame) addsAll(fn *Function) bool {
	for _, v := range fn.retained {
		if _, ok := f.onto[v]; !ok && v.slot != nil && v.slot.Area == arena.InSums {
			return false
		}
	}
	return true
}

// release undoes hold at the end of a run, whether or not it has succeeded.
func (f *Frame) release(fn *Function, slot int, ok bool) {
	if !ok {
		f.memory.Abandon(&f.areas, &fn.slots)
		return
	}
	f.memory.Release(&f.areas, &fn.slots, slot, func(a arena.Area) int { return f.leafBytes(fn, a) })
	if fn.graph.Name == graph.Backward {
		f.memory.FreeSlot(slot)
	}
}

// leafBytes returns the number of bytes of the outputs that are yielded without a copy, in an area.
func (f *Frame) leafBytes(fn *Function, a arena.Area) (n int) {
	for _, o := range fn.graph.Outputs {
		if v := fn.values[o.Value]; o.Keep && v.inLeaves() && v.slot.Area == a && !f.added[v] {
			n += v.size() * f.Units(v.Kind)
		}
	}
	return n
}

// inLeaves reports whether output v may be yielded without a copy.
func (v *Value) inLeaves() bool {
	return v.slot != nil && v.slot.Area >= arena.InLeaves && !v.Last && !v.half
}

// yield returns output v as a tensor. If v is a leaf, the tensor is not a copy: it uses the memory of
// leaves until Spent is called, or the sum that v was added to.
func (f *Frame) yield(v *Value) tensor.Tensor {
	switch {
	case !v.inLeaves():
		return f.takeOut(v)
	case f.added[v]:
		sums := f.onto[v]
		return tensor.Tensor{DType: v.DType, Shape: f.shape(v), Bytes: sums[len(sums)-1].Bytes}
	}
	return tensor.Tensor{DType: v.DType, Shape: f.shape(v), Bytes: f.Bytes(v)}
}

// turnHeld copies a value that the earlier function has retained, because this function needs another
// layout.
func (f *Frame) turnHeld(v *Value) {
	from, rows, columns := v.source, v.Channels, v.Positions
	if from.Last {
		rows, columns = from.Positions, from.Channels
	}
	if v.DType.Size() == 1 {
		f.turnBytes(v, f.Bytes(v), f.Bytes(from), rows, columns)
		return
	}
	f.turn(v, f.F32(v), f.F32(from), rows, columns)
}
