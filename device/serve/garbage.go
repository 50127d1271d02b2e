package serve

import (
	"runtime"
	"runtime/metrics"
)

// garbage is collected between calls: there the host is busy, in a call the
// cores are, and the other members of a group wait.
type garbage struct{ heap []metrics.Sample }

func newGarbage() *garbage {
	return &garbage{[]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/gc/heap/goal:bytes"}}}
}

// collect collects when the memory that may be used before Go does so by itself
// is half used up. Go begins at 70 percent of it or later.
func (g *garbage) collect() {
	metrics.Read(g.heap)
	used, live, goal := g.heap[0].Value.Uint64(), g.heap[1].Value.Uint64(), g.heap[2].Value.Uint64()
	if used > live && used-live > (goal-min(live, goal))/2 {
		runtime.GC()
	}
}
