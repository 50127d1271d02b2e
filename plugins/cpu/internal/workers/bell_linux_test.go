package workers

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Helpers that sleep between runs do not wake Go's monitor, which would interrupt workers every 20
// microseconds from then on. The test counts how often threads of the process go to sleep: about once in
// a run, which is the helper.
func TestMonitorSleeps(t *testing.T) {
	const pause = 400 * time.Microsecond            // longer than a helper is awake
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // every P has a worker
	p := NewPool(2, false)
	defer p.Close()
	run := func() {
		p.KeepAwake()
		p.Each(2, func(*Worker, int) {})
		p.LetSleep()
		for began := time.Now(); time.Since(began) < pause; {
		}
	}
	for range 50 { // after these runs, the effects of earlier work on the monitor are over
		run()
	}
	const runs, tries, enough = 20, 30, 9
	var all []int // tries that no other process disturbed
	for n := 0; n < tries && len(all) < enough; n++ {
		before, began := sleeps(t), time.Now()
		for range runs {
			run()
		}
		if time.Since(began) < runs*pause*5/4 {
			all = append(all, sleeps(t)-before)
		}
	}
	if len(all) < enough {
		t.Skip("others want the cores: too few tries in which both workers had one, and only these say who sleeps")
	}
	slices.Sort(all)
	if n := all[enough/2]; n > 3*runs {
		t.Errorf("threads went to sleep %d times in %d runs, in the median, want about one each", n, runs)
	}
}

// sleeps returns how often threads of this process have gone to sleep.
func sleeps(t *testing.T) (total int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Skip("no /proc here, which counts how often threads sleep")
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
