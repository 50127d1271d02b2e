package arena

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// Values that the functions of a stage retain are stored in regions outside the arena, for several runs
// at once. Each slot of train.forward has one region, which its actions fill. Each run of train.backward
// has two regions for its leaves, which are yielded in place: one for small leaves, and one for gradients
// that may be added to sums while they are computed. A run that adds its gradients does not store them.
// It uses a passing region instead, which the next run overwrites.
//
// 	train.forward, slot 0    arena | region of slot 0
// 	train.forward, slot 1    arena | region of slot 1
// 	train.backward, slot 0   arena | region of slot 0, free then | regions of its leaves, until all are spent
// 	train.backward, slot 1   arena | region of slot 1, free then | region of its leaves | passing region

// Area is a kind of memory.
type Area int

const (
	InArena  Area = iota
	InSlot        // the region of a slot: see device.Step.Slot
	InLeaves      // the region of the leaves of a run
	InSums        // the region of leaves that may be added to sums instead: run.Value.AllowAdding
	areas         // number of areas
)

// regions is the memory of slots and leaves.
type regions struct {
	free    [areas][][]byte
	slots   map[int][]byte
	leaves  []lent
	passing []byte // for gradients that are added; outside the heap, so that untouched pages use no memory
}

// lent is a region of leaves that a reader outside this package still uses.
type lent struct {
	area   Area
	bytes  []byte
	unread int // bytes of the region that are still read
}

// take returns a region of n bytes with arbitrary contents.
func (r *regions) take(a Area, n int) []byte {
	for i, b := range r.free[a] {
		if cap(b) >= n {
			r.free[a] = slices.Delete(r.free[a], i, i+1)
			return b[:n]
		}
	}
	r.free[a] = nil // a region that is too small now is too small for later runs, too
	return newArena(n)
}

// pass returns a region of n bytes. All runs use the same one, each after the other.
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
func (r *regions) give(a Area, b []byte) {
	if b != nil && !within(r.passing, b) {
		r.free[a] = append(r.free[a], b)
	}
}

// setOffsets sets the offsets of the slots of an area for a number of units, and returns
// the bytes of the region.
func setOffsets(retained []*Slot, a Area, c device.Capacity) (n int) {
	for _, s := range retained {
		if s.Area == a {
			s.offset = n
			n += s.bytes(c)
		}
	}
	return n
}

// HeldBytes returns the maximum number of bytes of regions that are in use at a time. There is one region
// for each slot. Leaves need one region for each level of the tree, because a leaf may wait there for
// another. If leaves are not added while they are computed, they need one more.
func HeldBytes(functions []*Slots, c device.Capacity) (n int) {
	wait := max(1, bits.Len(uint(max(c.Leaves, c.Replicas, 1)-1)))
	replica := device.Capacity{Replicas: 1}
	for _, fn := range functions {
		for _, a := range fn.Regions {
			switch a {
			case InSlot:
				n += max(c.Slots, 1) * setOffsets(fn.Retained, a, c)
			case InLeaves:
				n += (wait + 1) * setOffsets(fn.Retained, a, replica)
			case InSums:
				n += wait * setOffsets(fn.Retained, a, replica)
			}
		}
	}
	return n
}

// Areas is the memory of a run, by area: the arena, and the regions added by OpenSlot and Hold.
type Areas [areas][]byte

// Areas returns the areas of a run without regions.
func (m *Memory) Areas() Areas { return Areas{InArena: m.arena} }

// At returns the memory of the slot's area, starting at the slot.
func (a *Areas) At(s *Slot) []byte { return a[s.Area][s.offset:] }

// OpenSlot adds the region of a slot to a. A run of an earlier function has filled it, and earlier
// describes its layout. OpenSlot reports whether the region exists.
func (m *Memory) OpenSlot(a *Areas, earlier *Slots, slot int, c device.Capacity) bool {
	setOffsets(earlier.Retained, InSlot, c)
	a[InSlot] = m.regions.slots[slot]
	return a[InSlot] != nil
}

// Hold adds the regions that a run fills. areAdded reports that all leaves in InSums will be added to
// sums, so that a passing region is enough for them.
func (m *Memory) Hold(a *Areas, s *Slots, c device.Capacity, areAdded bool) {
	for _, area := range s.Regions {
		switch n := setOffsets(s.Retained, area, c); {
		case n == 0:
		case area == InSums && areAdded:
			a[area] = m.regions.pass(n)
		default:
			a[area] = m.regions.take(area, n)
		}
	}
}

// Abandon frees the regions of a run that has failed.
func (m *Memory) Abandon(a *Areas, s *Slots) {
	for _, area := range s.Regions {
		m.regions.give(area, a[area])
	}
}

// Release stores the regions of a run that has succeeded. The contents of a slot are kept until FreeSlot,
// and leaves until Spent. unspent returns how many bytes of the leaves in an area are still to be read.
func (m *Memory) Release(a *Areas, s *Slots, slot int, unspent func(Area) int) {
	r := &m.regions
	for _, area := range s.Regions {
		if area == InSlot {
			r.give(area, r.slots[slot])
			r.slots[slot] = a[area]
		} else if rest := unspent(area); rest > 0 {
			r.leaves = append(r.leaves, lent{area, a[area], rest})
		} else { // all leaves were added to sums
			r.give(area, a[area])
		}
	}
}

// FreeSlot frees the region of a slot.
func (m *Memory) FreeSlot(slot int) {
	m.regions.give(InSlot, m.regions.slots[slot])
	delete(m.regions.slots, slot)
}

// Spent releases leaves that are not read any more.
func (m *Memory) Spent(outputs []tensor.Tensor) {
	r := &m.regions
	for _, t := range outputs {
		i := slices.IndexFunc(r.leaves, func(l lent) bool { return within(l.bytes, t.Bytes) })
		if i < 0 {
			continue
		}
		if r.leaves[i].unread -= len(t.Bytes); r.leaves[i].unread <= 0 {
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

// within reports whether b is a part of region.
func within(region, b []byte) bool {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(region)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(b) > 0 && at >= from && at < from+uintptr(len(region))
}
