package serve

import (
	"runtime"
	"runtime/metrics"
)

// garbage is collected between calls: there the host is busy, in a call the
// cores are, and the other members of a group wait.
type garbage struct {
	heap   []metrics.Sample
	loaded uint64 // bytes that were used when the last call that is no run had ended
}

func newGarbage() *garbage {
	return &garbage{heap: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}}
}

// mostGarbage bounds what a device leaves: Go by itself waits until there is as
// much garbage as there are weights.
const mostGarbage = 4 << 20

// collect collects, after a run or another call, when the memory that may be used before
// Go does so by itself is half used up, or there is much garbage. Go begins at 70 percent
// of it or later. Before the first collection, what calls that are no runs have left
// counts as held: it is the plan of what they have loaded.
func (g *garbage) collect(run bool) {
	metrics.Read(g.heap)
	used, held, goal := g.heap[0].Value.Uint64(), g.heap[1].Value.Uint64(), g.heap[2].Value.Uint64()
	if !run {
		g.loaded = used
	}
	if held == 0 {
		held = g.loaded
	}
	if used > held && used-held > min((goal-min(held, goal))/2, mostGarbage) {
		runtime.GC()
	}
}
