package bench

import (
	"os"

	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/parallel"
)

// peakMemory returns the sum of the peak memory of this process and of the devices'
// processes, in MB of 1e6 bytes. It is 0 if the system does not report it.
func peakMemory(members []parallel.Member) float64 {
	total := memory.Peak(os.Getpid())
	for _, m := range members {
		if process := m.Device.Info().Process; process != 0 {
			total += memory.Peak(process)
		}
	}
	return float64(total) / 1e6
}
