package run

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Values that the functions of a stage retain are stored in regions outside the arena, for several
// runs at once. Each slot of train.forward has one region, which its actions fill. Each run of
// train.backward has two regions for its leaves, which are yielded in place: one for small leaves, and
// one for gradients that a later run adds to sums as it computes them. That later run does not store these
// gradients, and uses a passing region for them that is not held.
//
// 	train.forward, slot 0    arena | region of slot 0
// 	train.forward, slot 1    arena | region of slot 1
// 	train.backward, slot 0   arena | region of slot 0, free then | regions of its leaves, until all are spent
// 	train.backward, slot 1   arena | region of slot 1, free then | region of its leaves | passing region

// area is a kind of memory.
type area int

const (
	inArena  area = iota
	inSlot        // the region of a slot: see device.Step.Slot
	inLeaves      // the region of the leaves of a run
	inSums        // the region of leaves that may be added to sums instead: Value.AllowAdding
	areas         // number of areas
)

// areaOf returns the area where a function keeps v.
func areaOf(function string, v *Value) area {
	switch {
	case function == graph.Forward:
		return inSlot
	case function == graph.Backward && v.adds:
		return inSums
	case function == graph.Backward:
		return inLeaves
	}
	return inArena
}

// keepsIn returns the areas of a function's retained values.
func (fn *Function) keepsIn() []area {
	switch fn.graph.Name {
	case graph.Forward:
		return []area{inSlot}
	case graph.Backward:
		return []area{inLeaves, inSums}
	}
	return nil
}

// regions is the memory of slots and leaves.
type regions struct {
	free    [areas][][]byte
	slots   map[int][]byte
	leaves  []lent
	passing []byte // for gradients that are added; outside the heap, so that untouched pages use no memory
}

// lent is a region of leaves that are read elsewhere.
type lent struct {
	area  area
	bytes []byte
	rest  int // bytes of the region that are still in use
}

// take returns a region of n bytes with arbitrary contents.
func (r *regions) take(a area, n int) []byte {
	for i, b := range r.free[a] {
		if cap(b) >= n {
			r.free[a] = slices.Delete(r.free[a], i, i+1)
			return b[:n]
		}
	}
	r.free[a] = nil // regions that are too small now will be too small again
	return newArena(n)
}

// pass returns the region of n bytes that runs use in turn.
func (r *regions) pass(n int) []byte {
	if len(r.passing) < n {
		r.forgetPassing()
		r.passing = newPages(n)
	}
	return r.passing[:n]
}

func (r *regions) forgetPassing() {
	if r.passing != nil {
		freePages(r.passing)
	}
	r.passing = nil
}

// give returns a region to the free list.
func (r *regions) give(a area, b []byte) {
	if b != nil && !within(r.passing, b) {
		r.free[a] = append(r.free[a], b)
	}
}

// setOffsets sets the offsets of the slots of an area for a number of units, and returns
// the bytes of the region.
func setOffsets(reserved []*Slot, a area, c device.Capacity) (n int) {
	for _, s := range reserved {
		if s.area == a {
			s.offset = n
			n += s.bytes(c)
		}
	}
	return n
}

// HeldBytes returns the bytes of regions: of all slots that are in use at a time, and, for
// leaves, of one run for each value of their tree that may wait for another. Leaves that
// are not added as they are computed need one more.
func HeldBytes(functions map[string]*Function, c device.Capacity) (n int) {
	wait := max(1, bits.Len(uint(max(c.Leaves, c.Replicas, 1)-1)))
	replica := device.Capacity{Replicas: 1}
	for _, fn := range functions {
		for _, a := range fn.keepsIn() {
			switch a {
			case inSlot:
				n += max(c.Slots, 1) * setOffsets(fn.reserved, a, c)
			case inLeaves:
				n += (wait + 1) * setOffsets(fn.reserved, a, replica)
			case inSums:
				n += wait * setOffsets(fn.reserved, a, replica)
			}
		}
	}
	return n
}

// Hold assigns the regions of fn to the frame that will run it. It reports whether the slot
// that fn reads exists.
func (f *Frame) Hold(fn *Function, slot int) bool {
	c, r := device.Capacity{Rows: f.Total(), Replicas: len(f.Rows)}, &f.memory.regions
	if e := fn.earlier; e != nil && len(e.reserved) > 0 {
		setOffsets(e.reserved, inSlot, c)
		if f.areas[inSlot] = r.slots[slot]; f.areas[inSlot] == nil {
			return false
		}
	}
	for _, a := range fn.keepsIn() {
		switch n := setOffsets(fn.reserved, a, c); {
		case n == 0:
		case a == inSums && f.addsAll(fn):
			f.areas[a] = r.pass(n)
		default:
			f.areas[a] = r.take(a, n)
		}
	}
	return true
}

// addsAll reports whether every output that fn may add to sums will be added.
func (f *Frame) addsAll(fn *Function) bool {
	for _, v := range fn.retained {
		if _, ok := f.onto[v]; !ok && v.slot != nil && v.slot.area == inSums {
			return false
		}
	}
	return true
}

// Release undoes Hold at the end of a run, whether or not it has succeeded.
func (f *Frame) Release(fn *Function, slot int, ok bool) {
	r := &f.memory.regions
	for _, a := range fn.keepsIn() {
		switch {
		case !ok:
			r.give(a, f.areas[a])
		case a == inSlot:
			r.give(a, r.slots[slot])
			r.slots[slot] = f.areas[a]
		default:
			if rest := f.heldBytes(fn, a); rest > 0 {
				r.leaves = append(r.leaves, lent{a, f.areas[a], rest})
			} else { // all of them were added
				r.give(a, f.areas[a])
			}
		}
	}
	if ok && fn.graph.Name == graph.Backward {
		r.give(inSlot, r.slots[slot])
		delete(r.slots, slot)
	}
}

// heldBytes returns the number of bytes of leaves that are yielded in place in an area.
func (f *Frame) heldBytes(fn *Function, a area) (n int) {
	for _, o := range fn.graph.Outputs {
		if v := fn.values[o.Value]; o.Keep && v.inLeaves() && v.slot.area == a && !f.added[v] {
			n += v.size() * f.Units(v.Kind)
		}
	}
	return n
}

// inLeaves reports whether v may be yielded in place.
func (v *Value) inLeaves() bool {
	return v.slot != nil && v.slot.area >= inLeaves && !v.Last && !v.half
}

// Yield returns output v. If possible it is stored in the memory of leaves until Spent, or
// in the sum that it was added to.
func (f *Frame) Yield(v *Value) tensor.Tensor {
	switch {
	case !v.inLeaves():
		return f.TakeOut(v)
	case f.added[v]:
		sums := f.onto[v]
		return tensor.Tensor{DType: v.DType, Shape: f.shape(v), Bytes: sums[len(sums)-1].Bytes}
	}
	return tensor.Tensor{DType: v.DType, Shape: f.shape(v), Bytes: f.Bytes(v)}
}

// Spent releases leaves that are not read any more.
func (m *Memory) Spent(outputs []tensor.Tensor) {
	r := &m.regions
	for _, t := range outputs {
		i := slices.IndexFunc(r.leaves, func(l lent) bool { return within(l.bytes, t.Bytes) })
		if i < 0 {
			continue
		}
		if r.leaves[i].rest -= len(t.Bytes); r.leaves[i].rest <= 0 {
			r.give(r.leaves[i].area, r.leaves[i].bytes)
			r.leaves = slices.Delete(r.leaves, i, i+1)
		}
	}
}

// Drop releases all leaves.
func (m *Memory) Drop() {
	for _, l := range m.regions.leaves {
		m.regions.give(l.area, l.bytes)
	}
	m.regions.leaves = nil
}

// Forget frees all slots and leaves.
func (m *Memory) Forget() {
	m.regions.forgetPassing()
	m.regions = regions{slots: map[int][]byte{}}
}

// within reports whether some bytes are of a region.
func within(region, b []byte) bool {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(region)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(b) > 0 && at >= from && at < from+uintptr(len(region))
}

// turnHeld copies a retained value of the earlier function, with its channel axis moved.
func (f *Frame) turnHeld(v *Value) {
	from, rows, columns := v.from, v.Channels, v.Positions
	if from.Last {
		rows, columns = from.Positions, from.Channels
	}
	if v.DType.Size() == 1 {
		f.turnBytes(v, f.Bytes(v), f.Bytes(from), rows, columns)
		return
	}
	f.turn(v, f.F32(v), f.F32(from), rows, columns)
}
