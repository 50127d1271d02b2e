package server

import (
	"runtime/debug"
	heap "runtime/metrics"
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// tuneGC returns memory that loading models has left to the system, and makes Go collect garbage
// whenever there is a certain amount of it. By default Go waits until there is as much garbage as
// live memory. Weights are live, so that under load the server would grow by the size of its models,
// although scanning them costs nothing. Memory of requests is live too: hence there is also a limit,
// above what requests may use together.
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

// garbage returns the bytes of garbage after which Go collects it. With Options.Garbage alone a
// collection would follow every one or two answers of a model with large inputs and outputs.
func (k *updater) garbage() int {
	n := k.o.Garbage
	for _, m := range k.all() {
		n = max(n, rowsPerCollection*m.rowBytes())
	}
	return n
}

// rowsPerCollection is the least number of rows of a model between two collections.
const rowsPerCollection = 8

// rowBytes returns the size of the input and of the outputs of the graph, for a row.
func (m *modelVersion) rowBytes() int {
	in := m.model.Input()
	n := tensor.Count(in.Shape) * in.DType.Size()
	for k := range m.model.Graph.Main.Outputs {
		out := m.model.Computed(k).Type
		n += tensor.Count(out.Shape) * out.DType.Size()
	}
	return n
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
