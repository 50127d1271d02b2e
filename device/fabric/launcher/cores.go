package launcher

import (
	"os"
	"runtime"
)

// allowed is how many logical CPUs' time this process may use, when it starts.
var allowed = limited(runtime.NumCPU(), runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS"))

// limited returns how many of the CPUs that a process may run on it may keep busy:
// Go's runtime takes fewer where the limit of a cgroup (a container's) is lower, unless
// GOMAXPROCS in the environment says what it takes.
func limited(cpus, procs int, environment string) int {
	if environment != "" {
		return cpus
	}
	return min(cpus, procs)
}

// Cores returns the number of logical CPUs for this process, at least 1: those that
// it is bound to, or its share of the machine's if other ranks on this machine may
// run on the same ones. Ranks count as bound to CPUs of their own if the launcher's
// process may run on more than they may.
func Cores() int {
	if runtime.NumCPU() < parentCores() {
		return allowed
	}
	return max(allowed/here(), 1)
}
