package serve

import (
	"runtime"
	"runtime/metrics"
)

// garbage collects garbage between calls, while the host is busy. During a call a collection would use
// cores that compute, and the other members of a group would wait.
type garbage struct {
	heap   []metrics.Sample
	loaded uint64 // bytes in use after the last call that loaded data
}

func newGarbage() *garbage {
	return &garbage{heap: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}}
}

// maxGarbage is the maximum garbage of a device. Without this limit, Go waits until the garbage is as
// large as the weights.
const maxGarbage = 4 << 20

// collect runs a collection if half of the memory that may be allocated before Go's next
// automatic collection has been allocated, or if there is much garbage. Go would begin at 70
// percent or later. loads reports whether the previous call has loaded data. Until the first
// collection, all memory in use after a call that loads data counts as live.
func (g *garbage) collect(loads bool) {
	metrics.Read(g.heap)
	used, live, goal := g.heap[0].Value.Uint64(), g.heap[1].Value.Uint64(), g.heap[2].Value.Uint64()
	if g.exceedsLimit(used, live, goal, loads) {
		runtime.GC()
	}
}

// exceedsLimit reports whether collect must run a collection. used is the size of the heap. live is the
// size that remained after the last collection, or 0 before the first. goal is the size of the heap when
// Go would have finished the next collection by itself.
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
