package memory

import (
	"math"
	"os"
	"runtime"
	"testing"
)

func TestField(t *testing.T) {
	const text = "MemTotal:       24684032 kB\nMemFree: 7 kB\nVmHWM:\t    9320 kB\nHugePages_Total:       0\n"
	for _, c := range []struct {
		name string
		want int64
	}{{"MemTotal", 24684032 << 10}, {"MemFree", 7 << 10}, {"VmHWM", 9320 << 10}, {"HugePages_Total", 0},
		{"Mem", 0}, {"MemAvailable", 0}} {
		if got := field(text, c.name); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A limit counts if it is below the machine's memory, and memory that the process already
// uses is no longer available.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		limit                   uint64
		taken, total, available int64
		wantTotal, wantFree     int64
	}{
		{100, 30, 1000, 900, 100, 70},
		{100, 30, 1000, 50, 100, 50},
		{100, 130, 1000, 900, 100, 1},
		{1000, 30, 1000, 900, 1000, 900},
		{math.MaxUint64, 30, 1000, 900, 1000, 900},
		{100, 30, 0, 0, 0, 0},
	} {
		total, free := cappedBy(c.limit, c.taken, c.total, c.available)
		if total != c.wantTotal || free != c.wantFree {
			t.Errorf("%+v: %d bytes, %d available", c, total, free)
		}
	}
}

func TestKilled(t *testing.T) {
	for text, want := range map[string]int64{"": -1, "pgfault 7\noom_kill 23\noom_kill_disable 0\n": 23,
		"oom_kill 0\n": 0, "oom_kill many\n": -1} {
		if got := killedIn(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestThisMachine(t *testing.T) {
	total, available := Machine()
	peak := Peak(os.Getpid())
	if runtime.GOOS == "linux" && (peak < 1<<20 || available < 1<<20 || total < max(peak, available)) {
		t.Errorf("%d bytes, %d available, %d taken", total, available, peak)
	}
	if got := Peak(-1); got != 0 {
		t.Errorf("a process that is not there: %d", got)
	}
}
