package arena

import (
	"slices"

	"github.com/bnctl/bnctl/device"
)

// Slot is a piece of memory with a lifetime. It holds a value from the time the value is made to the time
// it is last read, or temporary data at one time. In the arena, a time is the index of a group of actions.
// In the memory of a lane, it is the index of an action in its group.
type Slot struct {
	Fixed, PerReplica, PerRow int // size in bytes: fixed, plus these for each replica and each row
	From, To                  int // first and last time when the slot is in use
	Area                      Area
	Summed                    bool // the value is a sum over the replicas, stored in place of a few of them
	offset                    int
}

// Slots has the slots that one function of a program needs.
type Slots struct {
	Arena    []*Slot   // slots of the arena
	Lanes    [][]*Slot // slots of lanes, by group
	Retained []*Slot   // slots of regions
	Regions  []Area    // the areas of Retained
}

const (
	alignment = 64
	// Slack is the number of bytes that may be read past the end of every slot.
	Slack = 64
)

// bytes returns the size of the slot for a capacity.
func (s *Slot) bytes(c device.Capacity) int {
	n := s.Fixed + s.PerReplica*c.Replicas + s.PerRow*c.Rows
	return (n + Slack + alignment - 1) / alignment * alignment
}

// Drop marks the slot as unused: it needs no memory. It is called during layout.
func (s *Slot) Drop() { s.Fixed, s.PerReplica, s.PerRow = 0, 0, 0 }

// assignOffsets gives every slot an offset, so that slots that are live at the same time do
// not overlap, and returns the total number of bytes. Large slots come first, each at the
// lowest offset that is free during its lifetime.
func assignOffsets(slots []*Slot, c device.Capacity) int {
	order := slices.Clone(slots)
	slices.SortStableFunc(order, func(a, b *Slot) int { return b.bytes(c) - a.bytes(c) })
	total := 0
	var placed []*Slot // sorted by offset
	for _, s := range order {
		n, at := s.bytes(c), 0
		for _, o := range placed {
			if o.To < s.From || s.To < o.From {
				continue
			}
			if at+n <= o.offset {
				break
			}
			at = max(at, o.offset+o.bytes(c))
		}
		s.offset = at
		total = max(total, at+n)
		i, _ := slices.BinarySearchFunc(placed, at, func(o *Slot, at int) int { return o.offset - at })
		placed = slices.Insert(placed, i, s)
	}
	return total
}
