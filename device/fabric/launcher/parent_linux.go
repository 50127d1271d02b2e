package launcher

import (
	"os"

	"golang.org/x/sys/unix"
)

// parentCores returns how many logical CPUs the process may run on that has
// started this one; 0 if the system does not say.
func parentCores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(os.Getppid(), &set) != nil {
		return 0
	}
	return set.Count()
}
