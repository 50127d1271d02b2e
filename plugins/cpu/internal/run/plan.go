package run

import (
	"slices"

	"github.com/bnctl/bnctl/device"
)

// Slot is a piece of memory: for a value from the time it is made to the last
// time it is read, or for the temporary memory of one time. In the arena times
// are groups, in the memory of a lane they are places in a group.
type Slot struct {
	Fixed, PerReplica, PerRow int // bytes
	From, To                  int // times, both included
	Offset                    int
}

const (
	alignment = 64
	// Slack is what may be read behind the end of every slot.
	Slack = 64
)

// Bytes returns what the slot takes for a capacity.
func (s *Slot) Bytes(c device.Capacity) int {
	n := s.Fixed + s.PerReplica*c.Replicas + s.PerRow*c.Rows
	return (n + Slack + alignment - 1) / alignment * alignment
}

// Place gives every slot an offset such that slots that live at the same time
// do not overlap, and returns the bytes that all need together. Large slots
// come first, each at the lowest place that is free while it lives.
func Place(slots []*Slot, c device.Capacity) int {
	order := slices.Clone(slots)
	slices.SortStableFunc(order, func(a, b *Slot) int { return b.Bytes(c) - a.Bytes(c) })
	total := 0
	var placed []*Slot // by offset
	for _, s := range order {
		n, at := s.Bytes(c), 0
		for _, o := range placed {
			if o.To < s.From || s.To < o.From {
				continue
			}
			if at+n <= o.Offset {
				break
			}
			at = max(at, o.Offset+o.Bytes(c))
		}
		s.Offset = at
		total = max(total, at+n)
		i, _ := slices.BinarySearchFunc(placed, at, func(o *Slot, at int) int { return o.Offset - at })
		placed = slices.Insert(placed, i, s)
	}
	return total
}
