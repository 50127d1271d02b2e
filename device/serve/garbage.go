package serve

import (
	"runtime"
	"runtime/metrics"
)

// garbage collects garbage between calls. The host is then busy; during a call the cores are busy, and
// the other members of a group wait.
type garbage struct {
	heap   []metrics.Sample
	loaded uint64 // bytes that were used after the last call that loaded something
}

func newGarbage() *garbage {
	return &garbage{heap: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}}
}

// maxGarbage is the maximum garbage of a device. Without this limit, Go waits until the garbage is as
// large as the weights.
const maxGarbage = 4 << 20

// collect runs a collection when half of the memory that may be used before Go's next
// automatic collection is used, or when there is much garbage. Go begins at 70 percent of
// it or later. loads reports whether the previous call has loaded data: until the first
// collection, memory used after such a call counts as live.
func (g *garbage) collect(loads bool) {
	metrics.Read(g.heap)
	used, live, goal := g.heap[0].Value.Uint64(), g.heap[1].Value.Uint64(), g.heap[2].Value.Uint64()
	if g.exceedsLimit(used, live, goal, loads) {
		runtime.GC()
	}
}

// exceedsLimit decides for collect. live is the size that remained after the last
// collection, or 0 before the first; goal is the size at which Go would have finished the
// next collection by itself.
func (g *garbage) exceedsLimit(used, live, goal uint64, loads bool) bool {
	if loads {
		g.loaded = used
	}
	baseline := live
	if live == 0 {
		baseline = g.loaded
	}
	return used > baseline && used-baseline > min((goal-min(baseline, goal))/2, maxGarbage)
}
