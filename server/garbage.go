package server

import (
	"runtime/debug"
	heap "runtime/metrics"
	"sync"
)

// tidy gives back what reading models has left, and has Go collect garbage
// whenever there is as much as o says. By itself Go waits until there is as much
// as is held. Weights are held, so that under load the server would grow by the
// size of its models, though they cost a collection nothing. What requests hold
// is held too: so there is a limit as well, above what they may take together.
func (o *Options) tidy() {
	if o.Garbage == 0 {
		return
	}
	debug.FreeOSMemory()
	live := []heap.Sample{{Name: "/gc/heap/live:bytes"}}
	heap.Read(live)
	limitMemory(int64(o.InFlight))
	debug.SetGCPercent(int(max(1, 100*uint64(o.Garbage)/max(1, live[0].Value.Uint64()))))
}

// garbageBeside is what may be there beside models and requests before Go
// collects with all its might, which it does half of the time at most.
const garbageBeside = 24 << 20

// limitMemory sets the limit of Go's memory to what is there now, and requests,
// unless there is a lower one.
func limitMemory(requests int64) {
	memory.Do(func() { given = debug.SetMemoryLimit(-1) })
	now := []heap.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	heap.Read(now)
	debug.SetMemoryLimit(min(given, int64(now[0].Value.Uint64()-now[1].Value.Uint64())+requests+garbageBeside))
}

var (
	memory sync.Once
	given  int64 // the limit that the program had
)
