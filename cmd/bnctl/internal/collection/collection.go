// Package collection determines when Go collects garbage in the command bnctl.
package collection

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// smallHeap is the number of bytes below which Go does not collect garbage. A command keeps its
	// first allocations, for example the plan of a network. So a collection in that phase frees nothing and only
	// occupies a core. Later, a collection needs as long as several predictions of a small network.
	smallHeap = 64 << 20
	// leastHeld is the size of live memory that Go assumes at least.
	leastHeld = 4 << 20
	// usual is Go's default percentage: Go collects when there is as much garbage as live memory.
	usual = 100
)

// Delay makes Go collect garbage only after the heap has reached smallHeap bytes, and then as usual. It has
// no effect any more when other code sets the percentage, as the command serve does.
func Delay() { collectFrom(smallHeap/leastHeld*usual, usual) }

// collectFrom changes the percentage of garbage from previous to percent. After each collection it sets a
// new percentage. It does nothing if other code has changed the percentage.
func collectFrom(percent, previous int) {
	if was := debug.SetGCPercent(percent); was != previous {
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
