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

// mostGarbage bounds what a device leaves: Go by itself waits until there is as
// much garbage as there are weights.
const mostGarbage = 4 << 20

// collect collects when the memory that may be used before Go does so by itself
// is half used up, or there is much garbage. Go begins at 70 percent of it or
// later. How much is garbage nobody knows before the first collection.
func (g *garbage) collect() {
	metrics.Read(g.heap)
	used, live, goal := g.heap[0].Value.Uint64(), g.heap[1].Value.Uint64(), g.heap[2].Value.Uint64()
	most := (goal - min(live, goal)) / 2
	if live > 0 {
		most = min(most, mostGarbage)
	}
	if used > live && used-live > most {
		runtime.GC()
	}
}
