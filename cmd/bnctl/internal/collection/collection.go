// Package collection sets when Go collects garbage in the command.
package collection

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// smallHeap is the number of bytes below which Go does not collect garbage. The
	// allocations of a start are kept, for example the plan of a network, so that each
	// collection in that phase occupies a core for nothing. Later, a collection costs a
	// small network several predictions.
	smallHeap = 64 << 20
	// leastHeld is the smallest size of live memory that Go assumes.
	leastHeld = 4 << 20
	// usual is Go's default: it collects when there is as much garbage as live memory.
	usual = 100
)

// Delay makes Go collect as usual, but not before the heap has smallHeap bytes. It
// stops when somebody else decides, as serve does.
func Delay() { collectFrom(smallHeap/leastHeld*usual, usual) }

// collectFrom sets the percentage to be, which was set to before, and decides again after each collection.
func collectFrom(percent, before int) {
	if was := debug.SetGCPercent(percent); was != before {
		debug.SetGCPercent(was)
		return
	}
	runtime.AddCleanup(new([64]byte), func(was int) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live := max(sample[0].Value.Uint64(), leastHeld)
		collectFrom(int(max(usual, (smallHeap-min(smallHeap, live))*usual/live)), was)
	}, percent)
}
