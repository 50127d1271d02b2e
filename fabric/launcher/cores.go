package launcher

import "runtime"

// Cores returns how many logical CPUs this process has for itself, at least 1:
// all that it may run on, or its share of them where other ranks of this machine
// may run on the same. These are bound to cores of their own if the launcher may
// run on more than they may.
func Cores() int {
	if n := runtime.NumCPU(); n < parentCores() {
		return n
	}
	return max(runtime.NumCPU()/here(), 1)
}
