package bench

import (
	"fmt"
	"os"
	"strings"

	"github.com/bnctl/bnctl/parallel"
)

// peakMemory returns how much memory this process and those of the devices have
// taken at most, in MB of 1e6 bytes, as Linux tells it; 0 elsewhere.
func peakMemory(members []parallel.Member) float64 {
	total := peakOf("self")
	for _, m := range members {
		if process := m.Device.Info().Process; process != 0 {
			total += peakOf(fmt.Sprint(process))
		}
	}
	return total
}

// peakOf reads the peak of a process from /proc.
func peakOf(process string) float64 {
	status, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kb float64
	if _, err := fmt.Sscan(after, &kb); err != nil {
		return 0
	}
	return kb * 1024 / 1e6
}
