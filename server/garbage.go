package server

import (
	"runtime/debug"
	heap "runtime/metrics"
	"sync"
)

// tuneGC returns memory that loading models has left to the system, and makes Go collect garbage
// whenever there are Options.Garbage bytes of it. By default Go waits until there is as much
// garbage as live memory. Weights are live, so that under load the server would grow by the size of
// its models, although scanning them costs nothing. Memory of requests is live too: hence there is
// also a limit, above what requests may use together.
func (o *Options) tuneGC() {
	if o.Garbage == 0 {
		return
	}
	debug.FreeOSMemory()
	live := []heap.Sample{{Name: "/gc/heap/live:bytes"}}
	heap.Read(live)
	limitMemory(int64(o.InFlight))
	debug.SetGCPercent(int(max(1, 100*uint64(o.Garbage)/max(1, live[0].Value.Uint64()))))
}

// gcHeadroom is the memory in addition to models and requests above which Go collects continuously,
// with at most half of the processor time.
const gcHeadroom = 24 << 20

// limitMemory sets Go's memory limit to the present size plus the memory of requests, unless a
// lower limit was set.
func limitMemory(requests int64) {
	readInitialLimit.Do(func() { initialLimit = debug.SetMemoryLimit(-1) })
	now := []heap.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	heap.Read(now)
	inUse := int64(now[0].Value.Uint64() - now[1].Value.Uint64())
	debug.SetMemoryLimit(min(initialLimit, inUse+requests+gcHeadroom))
}

var (
	readInitialLimit sync.Once
	initialLimit     int64 // the limit at the start of the program
)
