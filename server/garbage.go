package server

import (
	"runtime/debug"
	heap "runtime/metrics"
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// tuneGC returns unused memory to the system after models were loaded, and sets the amount of garbage that
// starts a collection. By default Go waits until there is as much garbage as live memory. Weights are live
// memory. So a server under load would grow by the size of its models, although the collector need not scan
// weights. The amount is set as a percentage of the live memory. Memory of requests is live memory too, so
// tuneGC also sets a memory limit, above the memory that all requests may use.
func (k *updater) tuneGC() {
	if k.o.Garbage == 0 {
		return
	}
	debug.FreeOSMemory()
	live := []heap.Sample{{Name: "/gc/heap/live:bytes"}}
	heap.Read(live)
	limitMemory(int64(k.o.InFlight))
	debug.SetGCPercent(int(max(1, 100*uint64(k.garbage())/max(1, live[0].Value.Uint64()))))
}

// garbage returns the bytes of garbage that start a collection. This is Options.Garbage, or more for models
// with large inputs and outputs, where Options.Garbage would mean a collection after every one or two
// answers.
func (k *updater) garbage() int {
	n := k.o.Garbage
	for _, m := range k.allVersions() {
		n = max(n, rowsPerCollection*m.rowBytes())
	}
	return n
}

// rowsPerCollection is the least number of rows that are computed between two collections.
const rowsPerCollection = 8

// rowBytes returns the size in bytes of one row of the graph's input and outputs.
func (m *modelVersion) rowBytes() int {
	in := m.model.Input()
	n := tensor.Count(in.Shape) * in.DType.Size()
	for k := range m.model.Graph.Main.Outputs {
		out := m.model.Computed(k).Type
		n += tensor.Count(out.Shape) * out.DType.Size()
	}
	return n
}

// gcHeadroom is the memory that is permitted in addition to models and requests. If the program uses more, Go
// collects garbage continuously, for at most half of the processor time.
const gcHeadroom = 24 << 20

// limitMemory sets Go's memory limit to the present size of the program plus requests plus gcHeadroom, but at
// most to the limit that was set when the program started.
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
