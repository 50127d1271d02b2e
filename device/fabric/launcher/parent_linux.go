package launcher

import (
	"os"

	"golang.org/x/sys/unix"
)

// parentCores returns the number of logical CPUs that the parent process may run on, or 0
// if the system does not report it.
func parentCores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(os.Getppid(), &set) != nil {
		return 0
	}
	return set.Count()
}
