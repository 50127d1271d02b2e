// Command bnctl trains batch-normalised networks data-parallel on any mix of
// devices, strips what that leaves behind, and predicts with the one template
// model that remains.
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
)

func main() {
	collectLate()
	os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr))
}

// collectLate lets Go collect garbage for the first time when the heap has 64 MiB,
// then as usual: what a start allocates is held, the plan of a network for example,
// and each collection while it grows takes a core from it for nothing.
func collectLate() {
	const first, usual = 1600, 100 // percent, at first of the 4 MiB that Go takes for held at least
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(first)
	runtime.AddCleanup(new([64]byte), func(int) {
		if was := debug.SetGCPercent(usual); was != first { // serve has chosen
			debug.SetGCPercent(was)
		}
	}, 0)
}
