package run

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// What the functions of a stage keep lies in regions beside the arena, for several runs at once: one
// for each slot of train.forward, as its actions have left it, and one for the leaves of each run of
// train.backward, which are yielded where they lie.
//
//	train.forward, slot 0    arena | region of slot 0
//	train.forward, slot 1    arena | region of slot 1
//	train.backward, slot 0   arena | region of slot 0, free then | region of its leaves, until all are spent

// area is where a piece of memory is.
type area int

const (
	inArena  area = iota
	inSlot        // the region of a slot: see device.Step.Slot
	inLeaves      // the region of the leaves of a run
)

// areaOf returns where a function keeps values.
func areaOf(function string) area {
	switch function {
	case graph.Forward:
		return inSlot
	case graph.Backward:
		return inLeaves
	}
	return inArena
}

// regions is the memory of slots and leaves.
type regions struct {
	free   [inLeaves + 1][][]byte // by area
	slots  map[int][]byte
	leaves []lent
}

// lent is a region of leaves that are read elsewhere.
type lent struct {
	bytes []byte
	rest  int // bytes of them that were not given back
}

// take returns a region of n bytes, which may be anything.
func (r *regions) take(a area, n int) []byte {
	for i, b := range r.free[a] {
		if cap(b) >= n {
			r.free[a] = slices.Delete(r.free[a], i, i+1)
			return b[:n]
		}
	}
	r.free[a] = nil // what is too small will be so again
	return newArena(n)
}

// give gives a region back.
func (r *regions) give(a area, b []byte) {
	if b != nil {
		r.free[a] = append(r.free[a], b)
	}
}

// setOffsets gives slots their offsets for a number of units, and returns the bytes of their region.
func setOffsets(reserved []*Slot, c device.Capacity) (n int) {
	for _, s := range reserved {
		s.offset = n
		n += s.bytes(c)
	}
	return n
}

// HeldBytes returns the memory of regions: of slots, those of all rows, and of leaves those of a run for each
// value of their tree that may wait for another. What is not added where it is made takes one more.
func HeldBytes(functions map[string]*Function, c device.Capacity) (n int) {
	for _, fn := range functions {
		switch areaOf(fn.graph.Name) {
		case inSlot:
			n += setOffsets(fn.reserved, c)
		case inLeaves:
			wait := max(1, bits.Len(uint(max(c.Replicas, 1)-1)))
			for _, s := range fn.reserved {
				if each := s.bytes(device.Capacity{Replicas: 1}); s.adds {
					n += each * wait
				} else {
					n += each * (wait + 1)
				}
			}
		}
	}
	return n
}

// Hold gives the frame the regions of fn, which it is to run. It reports whether the slot that fn
// reads is there.
func (f *Frame) Hold(fn *Function, slot int) bool {
	c, r := device.Capacity{Rows: f.Total(), Replicas: len(f.Rows)}, &f.memory.regions
	if e := fn.earlier; e != nil && len(e.reserved) > 0 {
		setOffsets(e.reserved, c)
		if f.areas[inSlot] = r.slots[slot]; f.areas[inSlot] == nil {
			return false
		}
	}
	if a := areaOf(fn.graph.Name); a != inArena && len(fn.reserved) > 0 {
		f.areas[a] = r.take(a, setOffsets(fn.reserved, c))
	}
	return true
}

// Release ends what Hold has begun: the run has succeeded, or it has not.
func (f *Frame) Release(fn *Function, slot int, ok bool) {
	r := &f.memory.regions
	switch a := areaOf(fn.graph.Name); {
	case a == inArena:
	case !ok:
		r.give(a, f.areas[a])
	case a == inSlot:
		r.give(a, r.slots[slot])
		r.slots[slot] = f.areas[a]
	default:
		r.give(inSlot, r.slots[slot])
		delete(r.slots, slot)
		if rest := f.heldBytes(fn); rest > 0 {
			r.leaves = append(r.leaves, lent{f.areas[a], rest})
		} else { // all of them were added
			r.give(a, f.areas[a])
		}
	}
}

// heldBytes returns how many bytes of leaves are yielded where they lie.
func (f *Frame) heldBytes(fn *Function) (n int) {
	for _, o := range fn.graph.Outputs {
		if v := fn.values[o.Value]; o.Keep && v.inLeaves() && !f.added[v] {
			n += v.size() * f.Units(v.Kind)
		}
	}
	return n
}

// inLeaves reports whether v may be yielded where it lies.
func (v *Value) inLeaves() bool {
	return v.slot != nil && v.slot.area == inLeaves && !v.Last && !v.half
}

// Yield returns output v, which lies in the memory of leaves until Spent if it can, or where it was added.
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

// Spent takes leaves back that nobody reads any more.
func (m *Memory) Spent(outputs []tensor.Tensor) {
	r := &m.regions
	for _, t := range outputs {
		i := slices.IndexFunc(r.leaves, func(l lent) bool { return within(l.bytes, t.Bytes) })
		if i < 0 {
			continue
		}
		if r.leaves[i].rest -= len(t.Bytes); r.leaves[i].rest <= 0 {
			r.give(inLeaves, r.leaves[i].bytes)
			r.leaves = slices.Delete(r.leaves, i, i+1)
		}
	}
}

// Drop takes all leaves back.
func (m *Memory) Drop() {
	for _, l := range m.regions.leaves {
		m.regions.give(inLeaves, l.bytes)
	}
	m.regions.leaves = nil
}

// Forget frees all slots and leaves.
func (m *Memory) Forget() { m.regions = regions{slots: map[int][]byte{}} }

// within reports whether some bytes are of a region.
func within(region, b []byte) bool {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(region)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(b) > 0 && at >= from && at < from+uintptr(len(region))
}

// turnHeld copies what the earlier function keeps with its channels elsewhere.
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
