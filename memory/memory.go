// Package memory says how much memory there is, and how much processes have taken.
//
// Use it before something large is allocated, and to report what a run needed.
// Linux tells it in /proc; elsewhere all numbers are 0.
package memory

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Machine returns the machine's memory, and what is available of it without
// swapping, in bytes; zeros where the system does not say.
func Machine() (total, available int64) {
	info := read("/proc/meminfo")
	return field(info, "MemTotal"), field(info, "MemAvailable")
}

// Peak returns the most memory that a process has had resident at once, in bytes;
// 0 where the system does not say, or if there is no such process.
func Peak(process int) int64 { return field(read(fmt.Sprintf("/proc/%d/status", process)), "VmHWM") }

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
