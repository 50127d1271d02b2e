package cpu

import (
	"os"
	"strconv"
	"strings"
)

// meminfo returns the machine's memory and what is available of it, in bytes;
// zeros where the system does not say.
func meminfo() (total, free int64) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		field := strings.Fields(line) // "MemTotal: 24684032 kB"
		if len(field) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(field[1], 10, 64)
		switch field[0] {
		case "MemTotal:":
			total = kib << 10
		case "MemAvailable:":
			free = kib << 10
		}
	}
	return total, free
}
