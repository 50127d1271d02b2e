// Package memory returns the memory of the machine, and how much of it processes
// have used.
//
// Use it before something large is allocated, and to report what a run needed.
// On Linux it reads /proc and the limits of cgroups; elsewhere all numbers are
// 0.
package memory

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Machine returns the machine's memory, and what is available of it without swapping,
// in bytes; zeros where the system does not say. For a process with a limit, as in a
// container, it returns at most what the limit leaves; memory that other processes
// use under the same limit is not counted.
func Machine() (total, available int64) {
	info := read("/proc/meminfo")
	total, available = field(info, "MemTotal"), field(info, "MemAvailable")
	if limit, err := memlimit.FromCgroup(); err == nil {
		return cappedBy(limit, field(read("/proc/self/status"), "VmRSS"), total, available)
	}
	return total, available
}

// cappedBy returns what a limit leaves of the machine's memory to a process that has
// taken so much; where there is no more, 1 byte is available, for 0 is not known.
func cappedBy(limit uint64, taken, total, available int64) (int64, int64) {
	if total == 0 || limit >= uint64(total) {
		return total, available
	}
	return int64(limit), max(min(available, int64(limit)-taken), 1)
}

// Peak returns the most memory that a process has had resident at once, in bytes;
// 0 where the system does not say, or if there is no such process.
func Peak(process int) int64 { return field(read(fmt.Sprintf("/proc/%d/status", process)), "VmHWM") }

// Killed returns how many processes the system has ended for want of memory since it was started, in the
// limits of a cgroup or without one; -1 where it does not say.
func Killed() int64 { return killedIn(read("/proc/vmstat")) }

// killedIn is Killed of a text with a line such as "oom_kill 23".
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
	text, _ := os.ReadFile(path) // "": the system does not say
	return string(text)
}

// field returns the bytes of a line such as "MemTotal: 24684032 kB".
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
