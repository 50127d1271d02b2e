package devicetest

import (
	"fmt"
	"os"
)

// residentBytes returns the number of bytes of a process that are in memory (resident); 0: unknown.
func residentBytes(process int) int64 {
	if process == 0 {
		return 0
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process))
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
