package bench

import (
	"os"

	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/parallel"
)

// peakMemory returns how much memory this process and those of the devices have
// taken at most, in MB of 1e6 bytes; 0 where the system does not say.
func peakMemory(members []parallel.Member) float64 {
	total := memory.Peak(os.Getpid())
	for _, m := range members {
		if process := m.Device.Info().Process; process != 0 {
			total += memory.Peak(process)
		}
	}
	return float64(total) / 1e6
}
