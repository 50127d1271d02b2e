package launcher

import (
	"os"
	"runtime"
)

// allowed is the number of logical CPUs that this process may use when it starts.
var allowed = limited(runtime.NumCPU(), runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS"))

// limited returns the number of CPUs that a process may keep busy. Go's runtime uses fewer if a cgroup
// (a container) has a lower limit, unless the environment sets GOMAXPROCS.
func limited(cpus, procs int, environment string) int {
	if environment != "" {
		return cpus
	}
	return min(cpus, procs)
}

// Cores returns the number of logical CPUs for this process, at least 1. If the launcher has
// bound each rank to separate CPUs, this is the number of CPUs of this process. Otherwise it
// is the process's share of the machine's CPUs. Ranks count as bound if the launcher's process
// may run on more CPUs than this process.
func Cores() int {
	if runtime.NumCPU() < parentCores() {
		return allowed
	}
	return max(allowed/here(), 1)
}
