package collection

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// Go collects garbage late while the heap is small, and as usual when it is larger. A percentage that other
// code sets is not changed.
func TestCollectLate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	Delay()
	becomes := func(what string, ok func(percent int) bool) {
		t.Helper()
		for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
			is := []metrics.Sample{{Name: "/gc/gogc:percent"}}
			if metrics.Read(is); ok(int(is[0].Value.Uint64())) {
				return
			}
			runtime.GC()
		}
		t.Errorf("%s: another percentage", what)
	}
	becomes("a small heap", func(percent int) bool { return percent > 2*usual })
	held := make([]byte, 2*smallHeap)
	runtime.GC()
	becomes("a large heap", func(percent int) bool { return percent == usual })
	runtime.KeepAlive(held)
	held = nil
	debug.SetGCPercent(7)
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	becomes("chosen by others", func(percent int) bool { return percent == 7 })
}
