package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/bnctl/bnctl/device/collective"
)

// The segment of a group has a head, and then its lanes. Each lane has a bell, a counter for each rank,
// two slots for each rank, and memory for the results.
const (
	groupMagic   = 0x31_6c6c_6f63_626e // "nbcoll1"
	groupHeader  = 4096
	cacheLine    = 64
	recordBytes  = 512
	slotsPerRank = 2 // one slot is read while the other is written
)

// slotBytes is the maximum number of bytes that a rank writes into a slot, by lane. Larger
// exchanges are made in several rounds.
var slotBytes = [collective.Lanes]int{collective.Moments: 128 << 10, collective.Gradients: 1 << 20}

// groupHead is the head of a group's segment.
type groupHead struct {
	magic      uint64
	generation uint64
	ranks      uint64
	aborted    atomic.Uint32
	spin       atomic.Uint32 // whether waiting may begin with spinning
}

// record identifies the exchange and the round that a slot belongs to.
type record struct {
	step, sequence, round uint64
	values                uint64 // a checksum of the kinds of the values
	length                uint64 // length of the name
	name                  [recordBytes - 5*8]byte
}

// laneMemory is one lane of a segment.
type laneMemory struct {
	bell    *bell            // rung when all members have arrived, and by an abort
	arrived []*atomic.Uint64 // number of barriers that each rank has reached
	records [][slotsPerRank]*record
	slots   [][slotsPerRank][]byte
	result  []byte
}

// groupBytes returns the length of the segment of a group.
func groupBytes(ranks int) int {
	n := groupHeader
	for _, slot := range slotBytes {
		n += cacheLine + ranks*(cacheLine+slotsPerRank*(recordBytes+slot)) + slot
	}
	return n
}

// layout slices a group's segment into head and lanes.
func layout(segment []byte, ranks int) (head *groupHead, lanes [collective.Lanes]laneMemory) {
	rest := segment[groupHeader:]
	take := func(n int) []byte {
		b := rest[:n:n]
		rest = rest[n:]
		return b
	}
	for i := range lanes {
		l := &lanes[i]
		l.bell = (*bell)(unsafe.Pointer(unsafe.SliceData(take(cacheLine))))
		l.records, l.slots = make([][slotsPerRank]*record, ranks), make([][slotsPerRank][]byte, ranks)
		for rank := range ranks {
			l.arrived = append(l.arrived, (*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(take(cacheLine)))))
			for k := range slotsPerRank {
				l.records[rank][k] = (*record)(unsafe.Pointer(unsafe.SliceData(take(recordBytes))))
				l.slots[rank][k] = take(slotBytes[i])
			}
		}
		l.result = take(slotBytes[i])
	}
	return (*groupHead)(unsafe.Pointer(unsafe.SliceData(segment))), lanes
}

// check returns an error if the segment does not belong to the group.
func (h *groupHead) check(generation uint64, ranks int) error {
	if h.magic != groupMagic || h.generation != generation || h.ranks != uint64(ranks) {
		return fmt.Errorf("shared memory: the segment is not that of generation %d of %d devices", generation,
			ranks)
	}
	return nil
}

// all reports whether every rank has reached the barrier with this number.
func (l *laneMemory) all(barrier uint64) bool {
	for _, a := range l.arrived {
		if a.Load() < barrier {
			return false
		}
	}
	return true
}
