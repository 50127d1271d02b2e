package server

import (
	"runtime/debug"
	heap "runtime/metrics"
)

// tidy gives back what reading models has left, and has Go collect garbage
// whenever there is as much as o says. By itself Go waits until there is as much
// as is held. Weights are held, so that under load the server would grow by the
// size of its models, though they cost a collection nothing.
func (o *Options) tidy() {
	if o.Garbage == 0 {
		return
	}
	debug.FreeOSMemory()
	live := []heap.Sample{{Name: "/gc/heap/live:bytes"}}
	heap.Read(live)
	debug.SetGCPercent(int(max(1, 100*uint64(o.Garbage)/max(1, live[0].Value.Uint64()))))
}
