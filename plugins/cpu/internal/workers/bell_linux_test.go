package workers

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Helpers that sleep between runs do not call Go's monitor, which would interrupt workers every 20
// microseconds from then on: threads of the process go to sleep about once in a run, the helper.
func TestMonitorSleeps(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // no P is free
	p := NewPool(2)
	defer p.Close()
	run := func() {
		p.KeepAwake()
		p.Each(2, func(*Worker, int) {})
		p.LetSleep()
		for began := time.Now(); time.Since(began) < 400*time.Microsecond; { // longer than a helper is awake
		}
	}
	for range 50 { // what has called it before is over
		run()
	}
	const runs = 500
	before := sleeps(t)
	for range runs {
		run()
	}
	if n := sleeps(t) - before; n > 2*runs {
		t.Errorf("threads went to sleep %d times in %d runs, want about one each", n, runs)
	}
}

// sleeps returns how often threads of this process have gone to sleep.
func sleeps(t *testing.T) (total int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Skip("no /proc")
	}
	for _, f := range files {
		b, _ := os.ReadFile(f) // a thread may be gone
		for line := range strings.Lines(string(b)) {
			n := 0
			if _, err := fmt.Sscanf(line, "voluntary_ctxt_switches: %d", &n); err == nil {
				total += n
			}
		}
	}
	return total
}
