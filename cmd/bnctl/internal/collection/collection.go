// Package collection sets when Go collects garbage in the command.
package collection

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// smallHeap is the number of bytes below which Go does not collect garbage. A command keeps
	// its first allocations, for example the plan of a network, so that a collection in that
	// phase only occupies a core. Later, the time of a collection is the time of several
	// predictions of a small network.
	smallHeap = 64 << 20
	// leastHeld is the minimum size of live memory that Go assumes.
	leastHeld = 4 << 20
	// usual is Go's default: it collects when there is as much garbage as live memory.
	usual = 100
)

// Delay makes Go collect as usual, but only after the heap has smallHeap bytes. It stops when other
// code sets the percentage, as serve does.
func Delay() { collectFrom(smallHeap/leastHeld*usual, usual) }

// collectFrom changes the percentage from before to percent, and sets a new one after each collection. It
// does nothing if other code has changed the percentage.
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
