package server

import (
	"runtime"
	"runtime/debug"
	heap "runtime/metrics"
	"testing"
)

// TestGarbageIsBounded checks that garbage is collected when it reaches the amount in the
// options, however much memory is in use.
func TestGarbageIsBounded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	held := make([]byte, 128<<20) // live memory, like weights
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Garbage = 8 << 20
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	is := []heap.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}}
	heap.Read(is)
	goal, live := is[0].Value.Uint64(), is[1].Value.Uint64()
	if most := live + uint64(2*o.Garbage); live < uint64(len(held)) || goal > most {
		t.Errorf("with %d MiB held, Go collects at %d", live>>20, goal>>20)
	}
	runtime.KeepAlive(held)
}
