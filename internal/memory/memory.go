// Package memory returns the memory of the machine, and how much of it processes
// have used.
//
// Use it before something large is allocated, and to report the needs of a run.
// On Linux it reads /proc and the limits of cgroups; elsewhere all numbers are
// 0.
package memory

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Machine returns the machine's memory, and the part that is available without swapping, in
// bytes; both are 0 if the system does not report them. For a process with a limit, as in a
// container, it returns at most the rest of the limit; memory that other processes use
// under the same limit is not counted.
func Machine() (total, available int64) {
	info := read("/proc/meminfo")
	total, available = field(info, "MemTotal"), field(info, "MemAvailable")
	if limit, err := cgroupLimit(); err == nil {
		return cappedBy(limit, field(read("/proc/self/status"), "VmRSS"), total, available)
	}
	return total, available
}

// cgroupLimit returns the limit that the process's cgroup had at the first call. Reading it is slower
// than opening a device.
var cgroupLimit = sync.OnceValues(memlimit.FromCgroup)

// cappedBy returns the part of the machine's memory that a limit allows to a process that has used
// used bytes. If nothing is left, it returns 1 byte as available, because 0 means unknown.
func cappedBy(limit uint64, used, total, available int64) (int64, int64) {
	if total == 0 || limit >= uint64(total) {
		return total, available
	}
	return int64(limit), max(min(available, int64(limit)-used), 1)
}

// Peak returns the largest amount of resident memory that a process has had, in bytes; 0 if the
// system does not report it, or if the process does not exist.
func Peak(process int) int64 { return field(read(fmt.Sprintf("/proc/%d/status", process)), "VmHWM") }

// Killed returns the number of processes that the system has ended for lack of memory since
// it was started, in the limits of a cgroup or without one; -1 if the system does not
// report it.
func Killed() int64 { return killedIn(read("/proc/vmstat")) }

// killedIn returns the number in a line like "oom_kill 23" of text, for Killed.
func killedIn(text string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

func read(path string) string {
	text, _ := os.ReadFile(path) // the text is "" if the system does not report it
	return string(text)
}

// field returns the bytes in a line like "MemTotal: 24684032 kB".
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
